// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.settings.ServeSettings;

/** Many tasks on two executors with very little pinned memory. */
@Tag("slow")
@Timeout(120)
class MemoryPressureTest extends TransportFixture {
  private static final int TASKS = 64;
  private static final int MAPS = 12;
  private static final int PARTITIONS = 16;
  private static final int CHUNK = 64 << 10;

  /**
   * No request ends by a time-out, and none waits in the server until it counts as overload: that
   * takes a sixteenth of this, and all blocks must be answered sooner.
   */
  private static final Duration REQUEST_TIMEOUT = Duration.ofMinutes(20);

  /** Maximum time until all blocks of a request are answered. */
  private static final Duration MAX_ANSWER = Duration.ofSeconds(60);

  /** Fallback reasons that only memory causes. */
  private static final Set<FallbackReason> EXPECTED =
      EnumSet.of(FallbackReason.POOL_EMPTY, FallbackReason.PEER_BUSY);

  private final AtomicInteger byRead = new AtomicInteger();
  private final AtomicInteger byTcp = new AtomicInteger();

  private static TestExecutor.Options withoutTimeouts(long incarnation) {
    return new TestExecutor.Options(incarnation)
        .requestTimeout(REQUEST_TIMEOUT)
        .lease(REQUEST_TIMEOUT.multipliedBy(2));
  }

  @ParameterizedTest
  @CsvSource({"AUTO, 1, 6144", "WINDOW, 2, 4096", "COPY, 3, 4096", "AUTO, 4, 2000"})
  void shouldStayWithinTheBudgetAndDeliverEveryBlock(
      ServeSettings.Mode mode, long seed, int limitKib) throws Exception {
    long limit = (long) limitKib << 10;
    List<TestExecutor> pair = new ArrayList<>();
    for (int i = 1; i <= 2; i++) {
      TestExecutor.Options options = withoutTimeouts(i).mode(mode).pinned(limit, limit / 4);
      TestExecutor executor = start(options);
      Random random = new Random(seed * 10 + i);
      for (int map = 0; map < MAPS; map++) {
        executor.outputs().write(map, random, random.ints(PARTITIONS, 0, 150_000).toArray());
      }
      pair.add(executor);
    }
    runTasks(
        seed,
        (number, random) -> {
          TestExecutor reader = pair.get(number % 2);
          TestExecutor server = pair.get(1 - number % 2);
          for (int i = 0; i < 3; i++) {
            fetchAndCheck(reader, server, randomBlocks(random));
          }
        });
    assertThat(byRead.get() + byTcp.get()).isPositive();
    assertThat(byRead.get()).isPositive();
    for (TestExecutor executor : pair) {
      assertThat(executor.budget().highestBytes()).isBetween(1L, executor.budget().limitBytes());
      assertThat(executor.budget().limitBytes()).isLessThanOrEqualTo(limit);
      assertThat(executor.count(Counter.LEASES_EXPIRED)).isZero();
      assertThat(executor.count(Counter.CONNECTIONS_CLOSED)).isZero();
    }
  }

  @Test
  void shouldNotDeadlockWhenThePoolIsSmallerThanTheBlocksThatAllTasksWaitFor() throws Exception {
    TestExecutor reader = start(withoutTimeouts(1).pinned(8L << 20, 4 * CHUNK));
    TestExecutor server = start(withoutTimeouts(2));
    server.outputs().write(0, new Random(5), 6 * CHUNK, 5 * CHUNK, CHUNK / 2);
    long begunNs = System.nanoTime();
    runTasks(
        7,
        (number, random) -> {
          int partition = random.nextInt(2);
          fetchAndCheck(reader, server, List.of(new BlockRange(0, 0, partition, partition + 1)));
        });
    assertThat(byTcp.get()).isEqualTo(TASKS);
    assertThat(System.nanoTime() - begunNs).isLessThan(TimeUnit.SECONDS.toNanos(60));
    fetchAndCheck(reader, server, List.of(new BlockRange(0, 0, 2, 3)));
    assertThat(byRead.get()).as("a block that fits, afterwards").isEqualTo(1);
  }

  /** The work of a task. */
  private interface Work {
    void run(int number, Random random) throws Exception;
  }

  private static void runTasks(long seed, Work work) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(TASKS);
    List<Future<?>> tasks = new ArrayList<>();
    for (int i = 0; i < TASKS; i++) {
      int number = i;
      tasks.add(
          threads.submit(
              () -> {
                work.run(number, new Random(seed * 1_000 + number));
                return null;
              }));
    }
    threads.shutdown();
    for (Future<?> task : tasks) {
      task.get();
    }
  }

  private static List<BlockRange> randomBlocks(Random random) {
    List<BlockRange> blocks = new ArrayList<>();
    for (int i = random.nextInt(6); i >= 0; i--) {
      int from = random.nextInt(PARTITIONS);
      int to = random.nextInt(4) > 0 ? from + 1 : from + 1 + random.nextInt(PARTITIONS - from);
      blocks.add(new BlockRange(0, random.nextInt(MAPS), from, to));
    }
    return blocks;
  }

  /**
   * Fetches, keeps every block until the last was received, as Spark's iterator may, and compares.
   */
  private void fetchAndCheck(TestExecutor reader, TestExecutor server, List<BlockRange> blocks)
      throws Exception {
    HoldingHandler handler = new HoldingHandler(blocks.size());
    FetchHandler.fetch(reader.transport(), server.endpoint(), blocks, handler);
    assertThat(handler.left.await(MAX_ANSWER.toSeconds(), TimeUnit.SECONDS))
        .as("all blocks answered")
        .isTrue();
    for (int i = 0; i < blocks.size(); i++) {
      Object result = handler.results.get(i);
      if (result instanceof ManagedBuffer buffer) {
        byte[] expected = server.outputs().expected(blocks.get(i));
        assertThat(Arrays.equals(bytesOf(buffer), expected)).as("block %s", i).isTrue();
        buffer.release();
        byRead.incrementAndGet();
      } else {
        assertThat(EXPECTED).contains((FallbackReason) result);
        byTcp.incrementAndGet();
      }
    }
  }

  private static byte[] bytesOf(ManagedBuffer buffer) throws IOException {
    try (InputStream in = buffer.createInputStream()) {
      return in.readAllBytes();
    }
  }
}
