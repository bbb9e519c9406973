// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class DirectoryServiceTest {
  private final DirectoryService service = new DirectoryService("", (executorId, values) -> true);

  static Endpoint endpoint(String executorId, long incarnation) {
    return Endpoints.of(executorId, "host", incarnation);
  }

  /** An endpoint whose publisher has the number of its incarnation. */
  static ExecutorRecord record(String executorId, long incarnation, long epoch) {
    return ExecutorRecord.available(endpoint(executorId, incarnation), incarnation, epoch);
  }

  @Test
  void shouldReportARemovedExecutorAndRefuseItsReturn() {
    publish(record("1", 10, 1));
    service.remove("1");
    service.remove("1");
    assertThat(changes(0).get(0)).isEqualTo(2L);
    assertThat(changes(0).get(3)).isEqualTo(List.of("1"));
    assertThat(records(changes(0))).isEmpty();
    assertThat(publish(record("1", 10, 1))).isFalse();
  }

  @Test
  void shouldForgetTheOldestRemovedExecutors() {
    for (int i = 0; i < DirectoryService.MAX_GONE + 2; i++) {
      service.remove("" + i);
    }
    List<?> gone = (List<?>) changes(0).get(3);
    assertThat(gone).hasSize(DirectoryService.MAX_GONE).first().isEqualTo("2");
  }

  /** At the end of an application another thread asks under the lock that the reports need. */
  @Test
  @Timeout(60)
  void shouldAnswerOtherThreadsWhileAReportIsTaken() {
    AtomicReference<DirectoryService> own = new AtomicReference<>();
    own.set(
        new DirectoryService(
            "",
            (executorId, values) ->
                !CompletableFuture.supplyAsync(() -> own.get().knows(executorId))
                    .orTimeout(10, TimeUnit.SECONDS)
                    .join()));
    Object report = new ExecutorReport("1", Map.of("read", 1L)).encode();
    assertThat(own.get().answer(List.of(DirectoryService.REPORT, report))).isEqualTo(true);
  }

  @Test
  void shouldSendTypesOfTheJdkOnly() {
    publish(record("1", 10, 1));
    assertOnlyJdkTypes(changes(0));
  }

  private static void assertOnlyJdkTypes(Object value) {
    assertThat(value.getClass().getClassLoader()).isNull();
    if (value instanceof List<?> list) {
      list.forEach(DirectoryServiceTest::assertOnlyJdkTypes);
    }
  }

  @Test
  void shouldReplaceARecordByALaterOneOfTheSameProcessOnly() {
    publish(record("1", 10, 1));
    assertThat(publish(record("1", 10, 1))).isTrue();
    assertThat(publish(ExecutorRecord.unavailable("1", List.of("device removed"), 10, 2))).isTrue();
    assertThat(publish(record("1", 10, 1))).isFalse();
    assertThat(publish(record("1", 11, 3))).isFalse();
    ExecutorRecord record = records(changes(0)).get(0);
    assertThat(record.endpoint()).isEmpty();
    assertThat(record.reasons()).containsExactly("device removed");
    assertThat(changes(0).get(0)).isEqualTo(2L);
  }

  @Test
  void shouldShortenReasonsThatAreTooLongForARecord() {
    List<String> reasons = Collections.nCopies(40, "x".repeat(2_000));
    ExecutorRecord come =
        RecordCodec.decode(RecordCodec.encode(ExecutorRecord.unavailable("1", reasons, 1, 1)));
    assertThat(come.reasons()).hasSize(16).allMatch(reason -> reason.length() == 1_000);
  }

  static List<Object> brokenMessages() {
    return List.of(
        "publish",
        List.of(),
        List.of("publish"),
        List.of("changes", "0"),
        List.of("other", 0L),
        List.of(1, 0L),
        List.of("publish", List.of()),
        List.of("publish", new byte[0]),
        publishing(record -> record.putInt(0, RecordCodec.FORMAT - 1)),
        publishing(record -> record.putShort(4, (short) 0)),
        publishing(record -> record.putShort(4, (short) -1)),
        // A byte that no text may have.
        publishing(record -> record.put(6, (byte) -1)),
        // Of the address: its length, which is none, then one that belongs to nobody, prefix, port.
        publishing(record -> record.put(ADDRESS - 1, (byte) 0)),
        publishing(record -> record.put(ADDRESS - 1, (byte) 9)),
        publishing(record -> record.put(ADDRESS, (byte) 5)),
        publishing(record -> record.put(ADDRESS + 1, (byte) 224)),
        publishing(record -> record.put(ADDRESS + 5, (byte) 33)),
        publishing(record -> record.putInt(ADDRESS + 6, 0)),
        publishing(record -> record.putInt(ADDRESS + 16, -1)),
        List.of("publish", Arrays.copyOf(RECORD, RECORD.length - 1)),
        List.of("publish", Arrays.copyOf(RECORD, RECORD.length + 1)),
        withdrawing(Collections.nCopies(17, "no device")),
        withdrawing(List.of("x".repeat(1_001))));
  }

  private static final byte[] RECORD = RecordCodec.encode(record("1", 10, 1));

  /** Where the first address of that record is. */
  private static final int ADDRESS = 4 + 3 + 8 + 8 + 1 + 6 + 1;

  private static Object publishing(Consumer<ByteBuffer> change) {
    byte[] record = RECORD.clone();
    change.accept(ByteBuffer.wrap(record));
    return List.of("publish", record);
  }

  private static Object withdrawing(List<String> reasons) {
    ByteBuffer record = ByteBuffer.allocate(5_000);
    record.putInt(RecordCodec.FORMAT).putShort((short) 1).put((byte) '1').putLong(1).putLong(1);
    record.put((byte) 0).put((byte) reasons.size());
    for (String reason : reasons) {
      record.putShort((short) reason.length()).put(reason.getBytes(StandardCharsets.US_ASCII));
    }
    return List.of("publish", Arrays.copyOf(record.array(), record.position()));
  }

  @ParameterizedTest
  @MethodSource("brokenMessages")
  void shouldRefuseAnInvalidMessage(Object message) {
    assertThatThrownBy(() -> service.answer(message))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageMatching("(bad|no such) .*");
  }

  private boolean publish(ExecutorRecord record) {
    return (Boolean)
        service.answer(new ArrayList<>(List.of("publish", RecordCodec.encode(record))));
  }

  private List<?> changes(long since) {
    return (List<?>) service.answer(new ArrayList<>(List.of("changes", since)));
  }

  /** The records of an answer; of an executor the last one counts. */
  static List<ExecutorRecord> records(List<?> changes) {
    Map<String, ExecutorRecord> records = new LinkedHashMap<>();
    for (Object joined : (List<?>) changes.get(2)) {
      Records.split(
          (byte[]) joined,
          encoded -> {
            ExecutorRecord record = RecordCodec.decode(encoded);
            records.put(record.executorId(), record);
          });
    }
    return List.copyOf(records.values());
  }
}
