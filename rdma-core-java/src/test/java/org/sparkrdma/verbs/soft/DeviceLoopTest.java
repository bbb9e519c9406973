// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.contract.Node;
import org.sparkrdma.verbs.contract.VerbsContract;

class DeviceLoopTest extends VerbsContract {
  private static final String NAME = "soft-rdma-soft0";

  /**
   * For each measurement. Enough for the compiler, whose code allocates less than the interpreter.
   */
  private static final int READS = 5_000;

  /** On a busy machine the compiler needs the time of more READs, and events disturb a moment. */
  private static final int MEASUREMENTS = 20;

  /** Maximum part of its time for which an idle thread runs. */
  private static final double MAX_IDLE_PART = 0.05;

  private static final long IDLE_NS = 200_000_000;

  /**
   * The check whether the processes of peers are alive reads files, and allocates for each check
   * and not for each READ: with the default, the slower the READs are, the more checks there are.
   */
  private static final Map<String, String> RARE_PEER_CHECKS =
      Map.of("soft.peer.check.interval", "60s");

  /** Length of the smallest object. */
  private static final int MIN_OBJECT_BYTES = 16;

  @Override
  protected EngineUnderTest engine() {
    return SoftUnderTest.ENGINE;
  }

  private static long[] deviceThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals(NAME))
        .mapToLong(Thread::getId)
        .toArray();
  }

  @Test
  void shouldAllocateNothingForAReadOrASend() throws Exception {
    VerbsEngine engine = load(RARE_PEER_CHECKS);
    client = open(engine);
    server = open(engine);
    Pair pair = connect();
    Node.Block source = server.block(4096, 5, Node.READABLE);
    Node.Block sink = client.block(4096, 0, Node.SINK);
    WorkRequest read = sink.readFrom(1, source.region());
    long lowest = Long.MAX_VALUE;
    for (int i = 0; i < MEASUREMENTS && lowest >= MIN_OBJECT_BYTES; i++) {
      long before = allocatedByDeviceThreads();
      for (int round = 0; round < READS; round++) {
        pair.client().postSend(read);
        spinUntil(() -> client.queue.poll(1, c -> assertThat(c.succeeded()).isTrue()) == 1);
      }
      lowest = Math.min(lowest, (allocatedByDeviceThreads() - before) / READS);
    }
    assertThat(lowest).as("bytes for each READ").isLessThan(MIN_OBJECT_BYTES);
  }

  private static long allocatedByDeviceThreads() {
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    return LongStream.of(deviceThreads()).map(threads::getThreadAllocatedBytes).sum();
  }

  @Test
  void shouldUseNoProcessorTimeWhenIdle() throws Exception {
    connect();
    double lowest = 1;
    for (int i = 0; i < MEASUREMENTS && lowest >= MAX_IDLE_PART; i++) {
      long before = cpuNsOfDeviceThreads();
      long start = System.nanoTime();
      until(() -> System.nanoTime() - start > IDLE_NS);
      double burntNs = cpuNsOfDeviceThreads() - before;
      lowest = Math.min(lowest, burntNs / (System.nanoTime() - start));
    }
    assertThat(lowest).as("part of its time").isLessThan(MAX_IDLE_PART);
  }

  private static long cpuNsOfDeviceThreads() {
    var threads = ManagementFactory.getThreadMXBean();
    return LongStream.of(deviceThreads()).map(threads::getThreadCpuTime).sum();
  }

  @Test
  @Timeout(value = 30, unit = TimeUnit.SECONDS)
  void shouldRunCommandsInOrderAndTimersInTime() throws Exception {
    var thread = new DeviceLoop("timer-test");
    thread.start();
    List<String> ran = new ArrayList<>();
    long now = System.nanoTime();
    var done = new java.util.concurrent.CountDownLatch(1);
    thread.call(
        () -> {
          thread.schedule(
              now + 20_000_000,
              () -> {
                ran.add("late");
                done.countDown();
              });
          thread.schedule(now + 10_000_000, () -> ran.add("early"));
          Timers.Timer never = thread.schedule(now, () -> ran.add("cancelled"));
          thread.cancel(never);
          ran.add("first");
        });
    thread.call(() -> ran.add("second"));
    done.await();
    assertThat(System.nanoTime() - now).isGreaterThanOrEqualTo(20_000_000);
    thread.stop();
    assertThat(ran)
        .hasSize(4)
        .containsSubsequence("first", "second")
        .containsSubsequence("first", "early", "late");
  }
}
