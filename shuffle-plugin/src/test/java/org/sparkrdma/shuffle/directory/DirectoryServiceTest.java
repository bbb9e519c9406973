// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkrdma.shuffle.address.TestAddresses;

class DirectoryServiceTest {
  private final DirectoryService service = new DirectoryService("", (executorId, values) -> true);

  static Endpoint endpoint(String executorId, long incarnation) {
    return new Endpoint(
        executorId,
        "host",
        TestAddresses.listener("10.0.0.1", 4_711),
        "soft",
        1,
        incarnation,
        new byte[32]);
  }

  /** An endpoint whose publisher has the number of its incarnation. */
  static ExecutorRecord record(String executorId, long incarnation, long epoch) {
    return ExecutorRecord.available(endpoint(executorId, incarnation), incarnation, epoch);
  }

  @Test
  void shouldAcceptTheSameProcessTwiceAndNoOther() {
    publish(record("1", 10, 1));
    assertThat(publish(record("1", 10, 1))).isTrue();
    assertThat(publish(record("1", 11, 2))).isFalse();
    assertThat(changes(0).get(0)).isEqualTo(1L);
  }

  @Test
  void shouldReportARemovedExecutorAndRefuseItsReturn() {
    publish(record("1", 10, 1));
    service.remove("1");
    service.remove("1");
    assertThat(changes(0).get(0)).isEqualTo(2L);
    assertThat(changes(0).get(3)).isEqualTo(List.of("1"));
    assertThat(executorIds(changes(0))).isEmpty();
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
    assertThat(publish(ExecutorRecord.unavailable("1", List.of("device removed"), 10, 2))).isTrue();
    assertThat(publish(record("1", 10, 1))).isFalse();
    assertThat(publish(record("1", 11, 3))).isFalse();
    ExecutorRecord record = RecordCodec.decode(((List<?>) changes(0).get(2)).get(0));
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
        withField(0, 1),
        withField(1, ""),
        withField(1, 1),
        withField(2, null),
        withField(3, 1),
        withField(4, List.of()),
        withField(4, List.of(List.of(new byte[] {10, 1, 0, 5}, 33, 4_711))),
        withField(4, List.of(List.of(new byte[] {10, 1, 0, 5}, 24, 0))),
        withField(4, List.of(List.of(new byte[] {(byte) 224, 0, 0, 1}, 24, 4_711))),
        withField(
            4,
            Collections.nCopies(
                Endpoint.MAX_ADDRESSES + 1, List.of(new byte[] {10, 1, 0, 5}, 24, 4_711))),
        withField(5, "x".repeat(256)),
        withField(6, -1),
        withField(6, 80L),
        withField(8, new byte[31]),
        publishing(List.of(2, "1", 1L, 1L, "no device")),
        publishing(List.of(2, "1", 1L, 1L, Collections.nCopies(17, "no device"))),
        publishing(List.of()),
        publishing(List.of(2)),
        publishing(List.of("1")),
        publishing(Collections.nCopies(129, 2)));
  }

  private static Object publishing(List<?> record) {
    return List.of("publish", record);
  }

  private static Object withField(int index, Object value) {
    List<Object> fields = RecordCodec.encode(record("1", 10, 1));
    fields.set(index, value);
    return publishing(fields);
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

  private static List<String> executorIds(List<?> changes) {
    return ((List<?>) changes.get(2))
        .stream().map(RecordCodec::decode).map(ExecutorRecord::executorId).toList();
  }
}
