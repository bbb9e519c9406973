// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.leak.LeakRecord;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.settings.ServeSettings;

/**
 * Two whole executors that read from each other while the pinned memory of both is full of leases,
 * received blocks and control buffers. Time-outs are so long that no wait may end by one.
 */
@Tag("slow")
@Timeout(180)
class FullExecutorsTest extends TransportFixture {
  private static final Duration TIMEOUT = Duration.ofMinutes(10);

  /**
   * Far from the time-outs, and so long that it only ends a wait for something that never comes.
   */
  private static final Duration MAX_WAIT = Duration.ofSeconds(30);

  private static final long LIMIT = 1 << 20;
  private static final int MAPS = 24;
  private static final int BLOCK_BYTES = 60_000;
  private static final int TASKS = 16;
  private static final int ROUNDS = 6;
  private static final int BLOCKS = 8;

  /** Fallback reasons that only memory causes. */
  private static final Set<FallbackReason> FULL =
      EnumSet.of(FallbackReason.POOL_EMPTY, FallbackReason.PEER_BUSY);

  private final ConcurrentLinkedQueue<FallbackReason> reasons = new ConcurrentLinkedQueue<>();
  private final AtomicInteger byRead = new AtomicInteger();
  private final AtomicLong longestNs = new AtomicLong();

  private TestExecutor startWithOutputs(TestExecutor.Options options) throws Exception {
    TestExecutor executor = start(options);
    for (int map = 0; map < MAPS; map++) {
      executor.outputs().write(map, random, BLOCK_BYTES);
    }
    return executor;
  }

  private static TestExecutor.Options small(long incarnation) {
    return new TestExecutor.Options(incarnation)
        .pinned(LIMIT, LIMIT / 2)
        .mode(ServeSettings.Mode.WINDOW)
        .requestTimeout(TIMEOUT)
        .lease(TIMEOUT.multipliedBy(2));
  }

  private static long leases() {
    return LeakRecord.outstanding().stream()
        .filter(leak -> leak.site().getMessage().startsWith("lease "))
        .count();
  }

  private static void await(String what, BooleanSupplier condition) {
    long deadlineNs = System.nanoTime() + MAX_WAIT.toNanos();
    boolean met = condition.getAsBoolean();
    while (!met && System.nanoTime() - deadlineNs < 0) {
      LockSupport.parkNanos(100_000);
      met = condition.getAsBoolean();
    }
    assertThat(met).as(what).isTrue();
  }

  private static List<BlockRange> blocks(long... maps) {
    List<BlockRange> blocks = new ArrayList<>();
    for (long map : maps) {
      blocks.add(block(map, 0, 1));
    }
    return blocks;
  }

  @Test
  void shouldAnswerEveryBlockSoonWhenTheMemoryOfBothIsFull() throws Exception {
    TestExecutor one = startWithOutputs(small(1));
    TestExecutor other = startWithOutputs(small(2));
    runTasks(
        (number, random) -> {
          for (int round = 0; round < ROUNDS; round++) {
            long[] maps = random.longs(BLOCKS, 0, MAPS).toArray();
            fetchAndCompare(
                number % 2 == 0 ? one : other, number % 2 == 0 ? other : one, blocks(maps));
          }
        });
    assertThat(byRead.get() + reasons.size()).isEqualTo(TASKS * ROUNDS * BLOCKS);
    assertThat(reasons).as("memory was short").isNotEmpty();
    assertThat(FULL).containsAll(reasons);
    assertThat(Duration.ofNanos(longestNs.get())).as("longest wait").isLessThan(MAX_WAIT);
    await("all leases released", () -> leases() == 0);
    for (TestExecutor executor : executors) {
      assertThat(executor.budget().highestBytes()).isGreaterThan(LIMIT - (128 << 10));
      assertThat(executor.count(Counter.LEASES_EXPIRED)).isZero();
      assertThat(executor.count(Counter.PROTOCOL_ERRORS)).isZero();
      assertThat(executor.count(Counter.CONNECTIONS_CLOSED)).isZero();
    }
    requireRead(one, other);
    requireRead(other, one);
  }

  /** Requires that a block is read by RDMA again. */
  private void requireRead(TestExecutor reader, TestExecutor server) throws Exception {
    int before = byRead.get();
    long deadlineNs = System.nanoTime() + MAX_WAIT.toNanos();
    while (byRead.get() == before && System.nanoTime() - deadlineNs < 0) {
      fetchAndCompare(reader, server, blocks(0));
    }
    assertThat(byRead.get()).isGreaterThan(before);
  }

  /** The work of a task. */
  private interface Work {
    void run(int number, Random random) throws Exception;
  }

  private static void runTasks(Work work) throws InterruptedException {
    ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    List<Thread> tasks = new ArrayList<>();
    for (int i = 0; i < TASKS; i++) {
      int number = i;
      Thread task =
          new Thread(
              () -> {
                try {
                  work.run(number, new Random(number));
                } catch (Throwable e) {
                  failures.add(e);
                }
              },
              "task-" + i);
      tasks.add(task);
      task.start();
    }
    for (Thread task : tasks) {
      task.join();
    }
    assertThat(failures).isEmpty();
  }

  /** Fetches, keeps every block until the last was answered, and compares. */
  private void fetchAndCompare(TestExecutor reader, TestExecutor server, List<BlockRange> blocks)
      throws Exception {
    HoldingHandler handler = new HoldingHandler(blocks.size());
    long beginNs = System.nanoTime();
    FetchHandler.fetch(reader.transport(), server.endpoint(), blocks, handler);
    assertThat(handler.left.await(60, TimeUnit.SECONDS)).as("all blocks answered").isTrue();
    longestNs.accumulateAndGet(System.nanoTime() - beginNs, Math::max);
    for (int i = 0; i < blocks.size(); i++) {
      Object result = handler.results.get(i);
      if (result instanceof ManagedBuffer buffer) {
        try (InputStream in = buffer.createInputStream()) {
          assertThat(in.readAllBytes()).isEqualTo(server.outputs().expected(blocks.get(i)));
        }
        buffer.release();
        byRead.incrementAndGet();
      } else {
        reasons.add((FallbackReason) result);
      }
    }
  }
}
