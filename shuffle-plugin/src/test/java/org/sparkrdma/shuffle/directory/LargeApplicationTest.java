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
import java.util.List;
import java.util.Queue;
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

  private record Event(long atNs, Runnable work) {}

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final DirectoryService service = new DirectoryService("", (executorId, values) -> true);
  private final LookUps lookUps = new LookUps(LOOK_UP, () -> this.nowNs);
  private final Random random = new Random(11);
  private long nowNs;

  /** Until when the driver's thread is busy. */
  private long busyNs;

  private long driverNs;
  private long answerBytes;
  private int answers;

  @AfterEach
  void close() {
    lookUps.close();
  }

  /** Publications that are to come, in order. */
  private final Queue<Event> publications = new ArrayDeque<>();

  private void run(List<Event> events) {
    events.sort(Comparator.comparingLong(Event::atNs));
    for (Event event : events) {
      nowNs = event.atNs;
      event.work.run();
    }
  }

  /** What an executor has of the directory; its records are decoded in other tests. */
  private final class Executor {
    private final String id;
    private long version;
    private boolean answered;

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

    /** The driver's one thread takes the message when it has done what came before. */
    void ask() {
      long askedNs = nowNs - LATENCY_NS;
      long[] current = {-1};
      Runnable answer = lookUps.unlessLate(() -> current[0] = answer());
      nowNs = Math.max(nowNs, busyNs);
      while (!publications.isEmpty() && publications.peek().atNs <= nowNs) {
        publications.remove().work.run();
      }
      long beganNs = threads.getCurrentThreadCpuTime();
      answer.run();
      long tookNs = threads.getCurrentThreadCpuTime() - beganNs;
      driverNs += tookNs;
      busyNs = nowNs + tookNs;
      answered = current[0] >= 0 && busyNs + LATENCY_NS - askedNs < LOOK_UP.toNanos();
      version = answered ? current[0] : version;
    }

    private long answer() {
      List<?> changes = (List<?>) service.answer(List.of(DirectoryService.CHANGES, version));
      answerBytes += serialized(changes);
      answers++;
      return (Long) changes.get(0);
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
    List<Event> published = new ArrayList<>();
    List<Event> starts = new ArrayList<>();
    List<Event> stage = new ArrayList<>();
    long stageNs = 20 * SECOND_NS;
    for (int i = 0; i < EXECUTORS; i++) {
      Executor executor = new Executor(i);
      executors.add(executor);
      long startNs = (long) (random.nextDouble() * SECOND_NS);
      long firstMs = random.nextInt(DirectoryClient.FIRST_QUERIES_MS);
      published.add(new Event(startNs, executor::publish));
      starts.add(new Event(startNs + TimeUnit.MILLISECONDS.toNanos(firstMs), executor::ask));
      stage.add(new Event(stageNs, executor::ask));
    }
    published.sort(Comparator.comparingLong(Event::atNs));
    publications.addAll(published);
    run(starts);
    assertThat(executors).allMatch(one -> one.version > 0);
    run(stage);
    System.out.printf(
        "driver %.2f s, %d answers of %d bytes, the last after %.2f s%n",
        driverNs / 1e9, answers, answerBytes / answers, (busyNs - stageNs) / 1e9);
    assertThat(executors).as("in time").allMatch(one -> one.answered);
    assertThat(executors).as("know all").allMatch(one -> one.version == EXECUTORS);
    assertThat(driverNs).isLessThan(EXECUTORS / 1_000 * SECOND_NS);
  }
}
