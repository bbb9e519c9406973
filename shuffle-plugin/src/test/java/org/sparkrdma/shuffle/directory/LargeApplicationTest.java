// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.address.TestAddresses;

/**
 * Ten thousand executors that start within a second, and then read in the same moment. Time is
 * virtual; the driver's thread takes the processor time that its answers really take, with their
 * serialization by Spark.
 */
@Tag("slow")
@Timeout(300)
class LargeApplicationTest {
  private static final int EXECUTORS = 10_000;
  private static final Duration LOOK_UP = Duration.ofSeconds(5);
  private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

  /** A look-up begins its wait before its message arrives. */
  private static final long LATENCY_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private record Event(long atNs, long order, Runnable work) {}

  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingLong(Event::atNs).thenComparingLong(Event::order));
  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final DirectoryService service = new DirectoryService("", (executorId, values) -> true);
  private final LookUps lookUps = new LookUps(LOOK_UP, () -> this.nowNs);
  private final Random random = new Random(11);
  private long nowNs;
  private long added;

  /** Look-ups of the driver's thread; the first one is being answered. */
  private final Deque<Runnable> waiting = new ArrayDeque<>();

  /** Until when that thread is busy. */
  private long busyNs;

  private long driverNs;
  private long answerBytes;
  private int answers;

  @AfterEach
  void close() {
    lookUps.close();
  }

  private void at(long atNs, Runnable work) {
    events.add(new Event(Math.max(nowNs, atNs), added++, work));
  }

  private void run() {
    while (!events.isEmpty()) {
      Event event = events.poll();
      nowNs = event.atNs;
      event.work.run();
    }
  }

  /** What an executor has of the directory; its records are decoded in other tests. */
  private final class Executor {
    private final String id;
    private long version;
    private long askedNs;
    private long answeredNs = -1;

    Executor(int id) {
      this.id = Integer.toString(id);
    }

    void publish() {
      byte[] token = new byte[Endpoint.TOKEN_BYTES];
      random.nextBytes(token);
      Endpoint endpoint =
          new Endpoint(
              id,
              "ip-10-0-7-" + id + ".eu-central-1.compute.internal",
              TestAddresses.listener("10.0.0.1", 4_711),
              "ibverbs",
              1,
              random.nextLong(),
              token);
      service.answer(
          List.of(
              DirectoryService.PUBLISH,
              RecordCodec.encode(ExecutorRecord.available(endpoint, random.nextLong(), 1))));
    }

    void ask() {
      askedNs = nowNs;
      answeredNs = -1;
      at(
          nowNs + LATENCY_NS,
          () -> {
            Runnable answer = lookUps.unlessLate(this::answer);
            enqueue(answer);
          });
    }

    private void answer() {
      List<?> changes = (List<?>) service.answer(List.of(DirectoryService.CHANGES, version));
      answerBytes += serialized(changes);
      Long current = (Long) changes.get(0);
      answers++;
      // The time that this has taken is known afterwards.
      at(
          nowNs,
          () ->
              at(
                  busyNs + LATENCY_NS,
                  () -> {
                    if (nowNs - askedNs < LOOK_UP.toNanos()) {
                      version = current;
                      answeredNs = nowNs;
                    }
                  }));
    }
  }

  /** The driver's one thread takes it when it has done what came before. */
  private void enqueue(Runnable answer) {
    waiting.add(answer);
    if (waiting.size() == 1) {
      at(busyNs, this::serve);
    }
  }

  private void serve() {
    long beganNs = threads.getCurrentThreadCpuTime();
    waiting.peek().run();
    long tookNs = threads.getCurrentThreadCpuTime() - beganNs;
    driverNs += tookNs;
    busyNs = nowNs + tookNs;
    waiting.remove();
    if (!waiting.isEmpty()) {
      at(busyNs, this::serve);
    }
  }

  private static int serialized(Object message) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(message);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.size();
  }

  @Test
  void shouldTellTenThousandExecutorsTheirPeersWithinTheTimeOfALookUp() {
    List<Executor> executors = new ArrayList<>();
    for (int i = 0; i < EXECUTORS; i++) {
      Executor executor = new Executor(i);
      executors.add(executor);
      long startNs = (long) (random.nextDouble() * SECOND_NS);
      at(startNs, executor::publish);
      long firstMs = random.nextInt(DirectoryClient.FIRST_QUERIES_MS);
      at(startNs + TimeUnit.MILLISECONDS.toNanos(firstMs), executor::ask);
    }
    run();
    long startsNs = driverNs;
    assertThat(executors.stream().filter(one -> one.version > 0).count()).isEqualTo(EXECUTORS);

    long stageNs = 20 * SECOND_NS;
    executors.forEach(one -> at(stageNs, one::ask));
    run();
    System.out.printf(
        "driver %.2f s for the starts and %.2f s for the stage, %d answers of %d bytes,"
            + " the last after %.2f s%n",
        startsNs / 1e9,
        (driverNs - startsNs) / 1e9,
        answers,
        answerBytes / answers,
        (busyNs - stageNs) / 1e9);
    assertThat(executors).as("in time").allMatch(one -> one.answeredNs > 0);
    assertThat(executors).as("know all").allMatch(one -> one.version == EXECUTORS);
    assertThat(driverNs).isLessThan(EXECUTORS / 1_000 * SECOND_NS);
  }
}
