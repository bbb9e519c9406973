// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ReadLatencyTest {
  private static final int MANY = 200_000;
  private static final long SHORT_NS = 10_000;
  private static final long LONG_NS = 1_000_000;

  private final ReadLatency latency = new ReadLatency();

  @Test
  void shouldBeAtMostOnePercentTooHigh() {
    Random random = new Random(5);
    for (int i = 0; i < 10_000; i++) {
      long latencyNs = (long) Math.exp(random.nextDouble() * Math.log(1_800e9));
      ReadLatency one = new ReadLatency();
      one.record(latencyNs);
      double exactUs = latencyNs / 1_000.0;
      assertThat((double) one.percentileUs(50)).isBetween(exactUs, exactUs * 1.01 + 1);
    }
  }

  @Test
  void shouldFindMedianAndTail() {
    Random random = new Random(5);
    for (int i = 0; i < 100_000; i++) {
      latency.record(random.nextInt(1_000_000));
    }
    assertThat(latency.percentileUs(50)).isBetween(495L, 510L);
    assertThat(latency.percentileUs(99)).isBetween(985L, 1_002L);
    assertThat(latency.percentileUs(100)).isBetween(999L, 1_011L);
  }

  @Test
  void shouldTakeAnyLatency() {
    assertThat(latency.percentileUs(99)).isZero();
    latency.record(-1);
    latency.record(Long.MIN_VALUE);
    latency.record(0);
    assertThat(latency.percentileUs(50)).isZero();
    latency.record(Long.MAX_VALUE);
    assertThat(latency.percentileUs(100)).isBetween(3_600_000_000L, 3_636_000_000L);
  }

  @Test
  void shouldRecordWithoutAllocations() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    record(MANY, SHORT_NS);
    long before = threads.getCurrentThreadAllocatedBytes();
    record(MANY, LONG_NS);
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(MANY / 10);
  }

  /** One lost or doubled count moves the median from one of the two values to the other. */
  @Test
  void shouldCountEachLatencyWhileOthersReadAndRecord() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      for (int round = 0; round < 5; round++) {
        recordAndRead(threads);
        assertThat(latency.percentileUs(50)).isEqualTo(shortUs());
        latency.record(LONG_NS);
        assertThat(latency.percentileUs(50)).isEqualTo(longUs());
        latency.record(SHORT_NS);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  /** Four threads record as many short as long latencies, while this one reads. */
  private void recordAndRead(ExecutorService threads) throws Exception {
    CyclicBarrier start = new CyclicBarrier(4);
    List<Future<Void>> recorders =
        Stream.of(SHORT_NS, LONG_NS, SHORT_NS, LONG_NS)
            .map(latencyNs -> threads.submit(() -> recordMany(start, latencyNs)))
            .toList();
    while (!recorders.stream().allMatch(Future::isDone)) {
      assertThat(latency.percentileUs(50)).isIn(0L, shortUs(), longUs());
      assertThat(latency.percentileUs(99)).isIn(0L, shortUs(), longUs());
    }
    for (Future<Void> recorder : recorders) {
      recorder.get();
    }
  }

  private Void recordMany(CyclicBarrier start, long latencyNs) throws Exception {
    start.await();
    record(10 * MANY, latencyNs);
    return null;
  }

  private void record(int times, long latencyNs) {
    for (int i = 0; i < times; i++) {
      latency.record(latencyNs);
    }
  }

  private static long shortUs() {
    return only(SHORT_NS);
  }

  private static long longUs() {
    return only(LONG_NS);
  }

  private static long only(long latencyNs) {
    ReadLatency one = new ReadLatency();
    one.record(latencyNs);
    return one.percentileUs(100);
  }
}
