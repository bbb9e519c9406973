// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.Deflater;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.thread.ControlThread;

@Timeout(60)
class DirectoryClientTest {
  private final DirectoryService service = new DirectoryService("", (executorId, values) -> true);
  private final AtomicInteger asked = new AtomicInteger();
  private final AtomicLong nowNs = new AtomicLong();
  private final ControlThread control = new ControlThread();
  private final DirectoryClient client = client(this::answer, Duration.ofSeconds(20));

  private Object answer(Object message) {
    asked.incrementAndGet();
    return service.answer(message);
  }

  private DirectoryClient client(DriverCall driver, Duration timeout) {
    return new DirectoryClient(driver, timeout, nowNs::get, control);
  }

  @AfterEach
  void close() {
    client.close();
    control.shutdownNow();
  }

  @Test
  void shouldAskEveryFiveSecondsForAnExecutorWithoutAnEndpoint() {
    client.withdraw("1", List.of("no device")).join();
    assertThat(client.find("1").join()).isEmpty();
    assertThat(client.find("absent").join()).isEmpty();
    assertThat(asked).hasValue(3);
    for (int i = 0; i < 20; i++) {
      nowNs.addAndGet(1_000_000_000L);
      assertThat(client.find("1")).isCompletedWithValue(Optional.empty());
      assertThat(client.find("absent")).isCompletedWithValue(Optional.empty());
      awaitQueries();
    }
    assertThat(asked).hasValue(3 + 4);
    client.publish(DirectoryServiceTest.endpoint("absent", 10)).join();
    nowNs.addAndGet(5_000_000_000L);
    assertThat(client.find("absent")).isCompletedWithValue(Optional.empty());
    awaitQueries();
    assertThat(client.find("absent").join()).isPresent();
  }

  @Test
  void shouldAskAgainFiveSecondsAfterTheDriverHasNotAnswered() {
    AtomicInteger tries = new AtomicInteger();
    client.publish(DirectoryServiceTest.endpoint("1", 10)).join();
    try (DirectoryClient late =
        client(
            message -> {
              if (tries.incrementAndGet() <= 3) {
                throw new IOException("no answer in time");
              }
              return service.answer(message);
            },
            Duration.ofDays(1))) {
      for (int failure = 1; failure <= 3; failure++) {
        assertThat(late.find("1").join()).isEmpty();
        awaitQueries();
        assertThat(tries).hasValue(failure);
        nowNs.addAndGet(4_999_999_999L);
        assertThat(late.find("1").join()).as("within five seconds").isEmpty();
        awaitQueries();
        assertThat(tries).hasValue(failure);
        nowNs.incrementAndGet();
        late.find("1").join();
        awaitQueries();
      }
      assertThat(late.find("1").join()).isPresent();
    }
  }

  /** The control thread works in order. */
  private void awaitQueries() {
    try {
      control.submit(() -> {}).get();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void shouldNotFindAnEndpointAnyMoreAfterItsWithdrawalAndARecheck() {
    client.publish(DirectoryServiceTest.endpoint("1", 10)).join();
    assertThat(client.find("1").join()).isPresent();
    client.withdraw("1", List.of("the device was removed")).join();
    nowNs.addAndGet(5_000_000_000L);
    client.endpoints().queries().recheck();
    client.endpoints().queries().recheck();
    // The querying thread works in order, so this look-up ends after the recheck.
    assertThat(client.find("2").join()).isEmpty();
    assertThat(client.find("1")).isCompletedWithValue(Optional.empty());
    assertThat(asked).hasValueLessThanOrEqualTo(5);
  }

  @Test
  void shouldRefuseAnEndpointReceivedAfterItsWithdrawal() throws Exception {
    AtomicInteger tries = new AtomicInteger();
    try (DirectoryClient late =
        client(
            message -> {
              if (tries.incrementAndGet() == 1) {
                throw new IOException("delayed, arrives later");
              }
              return service.answer(message);
            },
            Duration.ofSeconds(20))) {
      // As in an executor; on another thread the second try could come before the withdrawal.
      CompletableFuture<Boolean> published =
          control
              .submit(
                  () -> {
                    var first = late.publish(DirectoryServiceTest.endpoint("1", 10));
                    assertThat(late.withdraw("1", List.of("no device")).join()).isTrue();
                    return first;
                  })
              .get();
      assertThat(published.join()).isFalse();
      assertThat(client.find("1").join()).isEmpty();
    }
  }

  @Test
  void shouldKeepEndpointsWhenTheDriverHasForgottenRemovals() {
    client.publish(DirectoryServiceTest.endpoint("there", 1)).join();
    client.publish(DirectoryServiceTest.endpoint("gone", 2)).join();
    assertThat(client.find("gone").join()).isPresent();
    service.remove("gone");
    for (int i = 0; i < 2_000; i++) {
      service.remove("never-known-" + i);
    }
    assertThat(client.find("unknown").join()).isEmpty();
    assertThat(client.find("there").join()).isPresent();
    assertThat(client.find("gone").join()).isEmpty();
  }

  /** Each asks at times of its own, and must know what the driver knows. */
  @Test
  void shouldKnowWhatTheDriverKnowsWhateverItHasMissed() {
    Random random = new Random(5);
    Map<String, Long> expected = new TreeMap<>();
    List<DirectoryClient> clients = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      clients.add(client(service::answer, Duration.ofSeconds(20)));
    }
    Map<String, Long> epochs = new HashMap<>();
    for (int step = 0; step < 6_000; step++) {
      String id = Integer.toString(random.nextInt(step < 3_000 ? 200 : 4_000));
      if (random.nextInt(3) == 0) {
        service.remove(id);
        expected.remove(id);
        epochs.put(id, -1L);
      } else if (epochs.getOrDefault(id, 0L) >= 0) {
        long epoch = epochs.merge(id, 1L, Long::sum);
        service.answer(
            List.of(
                DirectoryService.PUBLISH,
                RecordCodec.encode(
                    ExecutorRecord.available(
                        DirectoryServiceTest.endpoint(id, 1_000 * epoch), 7, epoch))));
        expected.put(id, 1_000 * epoch);
      }
      if (random.nextInt(50) == 0) {
        int asks = random.nextInt(clients.size());
        DirectoryClient client = clients.get(asks * asks / clients.size());
        // One that never existed makes it ask.
        assertThat(client.find("step" + step).join()).isEmpty();
        assertThat(client.endpoints().size()).isEqualTo(expected.size());
        expected.forEach(
            (known, incarnation) ->
                assertThat(client.find(known).join().orElseThrow().incarnation())
                    .isEqualTo(incarnation));
      }
    }
    clients.forEach(DirectoryClient::close);
  }

  @Test
  void shouldSkipARecordOfALaterFormat() {
    byte[] later = RecordCodec.encode(DirectoryServiceTest.record("1", 10, 1));
    ByteBuffer.wrap(later).putInt(RecordCodec.FORMAT + 1);
    byte[] known = RecordCodec.encode(DirectoryServiceTest.record("2", 20, 1));
    byte[] records = Records.join(List.of(later, known), Deflater.BEST_SPEED);
    try (DirectoryClient reader =
        client(
            message -> List.of(2L, false, List.of(records), List.of()), Duration.ofSeconds(20))) {
      assertThat(reader.find("2").join()).isPresent();
      assertThat(reader.find("1").join()).isEmpty();
    }
  }

  @Test
  void shouldFindNothingWhenTheAnswerIsInvalid() {
    byte[] record = RecordCodec.encode(DirectoryServiceTest.record("1", 10, 1));
    byte[] joined = Records.join(List.of(record), Deflater.BEST_SPEED);
    byte[] cut = Arrays.copyOf(joined, joined.length - 8);
    byte[] longest = new byte[Records.MAX_RECORD_BYTES + 1];
    byte[] tooLong = Records.join(List.of(longest), Deflater.BEST_SPEED);
    List<Object> invalid =
        List.of(
            List.of(1),
            List.of(2L, false, List.of(new byte[3]), List.of()),
            List.of(2L, false, List.of(cut), List.of()),
            List.of(2L, false, List.of(tooLong), List.of()),
            List.of(2L, false, List.of("record"), List.of()));
    for (Object answer : invalid) {
      try (DirectoryClient confused = client(message -> answer, Duration.ofSeconds(20))) {
        assertThat(confused.find("1").join()).isEmpty();
      }
    }
  }

  @Test
  void shouldAnswerAllLookUpsWhenClosed() {
    CountDownLatch asking = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    DirectoryClient closing =
        client(
            message -> {
              asking.countDown();
              never.await();
              return null;
            },
            Duration.ofSeconds(1));
    CompletableFuture<Optional<Endpoint>> first = closing.find("1");
    await(asking);
    CompletableFuture<Optional<Endpoint>> second = closing.find("2");
    closing.close();
    assertThat(second).isCompletedWithValue(Optional.empty());
    assertThat(first.join()).as("at its time-out, because the driver was asked").isEmpty();
    assertThat(closing.find("3")).isCompletedWithValue(Optional.empty());
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
