// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.transport.SimulatedGrowth.Quantity;

/** Growth of the cost of one executor with the number of its peers, in simulated shuffles. */
@Tag("slow")
@Timeout(1_200)
class GrowthTest {
  private static final long PINNED_BYTES = 1L << 30;

  /** Default of {@code reads.bytes.max}. */
  private static final long READS_BYTES_MAX = 32L << 20;

  private static final double MAX_EXPONENT = 1.1;

  @TempDir private Path directory;

  private GrowthRun.Result run(int executors, int maps, int tasks, int blockBytes)
      throws Exception {
    return run(new GrowthRun.Shape(executors, maps, tasks, blockBytes, PINNED_BYTES));
  }

  private GrowthRun.Result run(GrowthRun.Shape shape) throws Exception {
    try (GrowthRun run = new GrowthRun(directory, shape)) {
      return run.run();
    }
  }

  /** Neither of the blocks that executor 0 reads nor of those that others read from it. */
  private static void assertNoFallback(GrowthRun.Result result) {
    assertThat(result.fallbacks()).as("%s", result.shape()).isEmpty();
    assertThat(result.fallbacksOfOthers()).as("%s", result.shape()).isEmpty();
  }

  @Test
  void shouldCostAnExecutorAtMostLinearlyInItsPeers() throws Exception {
    List<GrowthRun.Result> results = new ArrayList<>();
    for (int executors : new int[] {10, 20, 40, 80}) {
      GrowthRun.Result result = run(executors, executors, 2, 16 << 10);
      assertNoFallback(result);
      assertThat(result.connections()).isEqualTo(executors - 1);
      assertThat(result.queuePairs()).isEqualTo(executors - 1);
      assertThat(result.blocks()).isEqualTo(2L * (executors - 1));
      assertThat(result.driverRecords()).isEqualTo(executors);
      results.add(result);
    }
    for (Quantity quantity : Quantity.values()) {
      assertThat(SimulatedGrowth.fittedExponent(results, quantity))
          .as("%s: %s", quantity, results)
          .isLessThanOrEqualTo(MAX_EXPONENT);
    }
    assertThat(SimulatedGrowth.fittedExponent(results, Quantity.DRIVER_MESSAGES)).isLessThan(0.1);
  }

  /** 1,000 servers in {@link #shouldMeasureGrowth}. */
  @Test
  void shouldLimitReadBytesInFlightInAnIncast() throws Exception {
    GrowthRun.Result result = run(new GrowthRun.Shape(65, 65 * 16, 8, 64 << 10, 1L << 30));
    assertThat(result.maxReadBytesInFlight()).isBetween(READS_BYTES_MAX / 2, READS_BYTES_MAX);
    assertNoFallback(result);
  }

  /**
   * The requests hold the pool for 80 ms, as those to 1,000 servers in {@link
   * #shouldMeasureGrowth}.
   */
  @Test
  void shouldReadEveryBlockOfAnIncastThatThePoolDoesNotHold() throws Exception {
    GrowthRun.Result result = run(new GrowthRun.Shape(65, 65 * 16, 20, 64 << 10, 128L << 20));
    assertThat(result.allBlocksMs()).isGreaterThan(80);
    assertThat(result.maxReadBytesInFlight()).isLessThanOrEqualTo(READS_BYTES_MAX);
    assertNoFallback(result);
  }

  /** 2,000 executors with 1,024 connections each in {@link #shouldMeasureGrowth}. */
  @Test
  void shouldLoseNoBlockWhenConnectionsMakeRoom() throws Exception {
    GrowthRun.Result result = run(new GrowthRun.Shape(81, 405, 4, 64 << 10, PINNED_BYTES, 40));
    assertThat(result.connections()).isEqualTo(40);
    assertNoFallback(result);
  }

  /** 10,000 x 10,000 blocks of 500 executors in {@link #shouldMeasureGrowth}. */
  @Test
  void shouldReadEveryBlockOfTasksThatComeInWaves() throws Exception {
    GrowthRun.Result two = run(GrowthRun.Shape.inWaves(20, 200, 5, 2, 64 << 10, PINNED_BYTES));
    GrowthRun.Result all = run(GrowthRun.Shape.inWaves(20, 200, 5, 8, 64 << 10, PINNED_BYTES));
    assertThat(all.shape().partitions()).isEqualTo(800);
    assertThat(all.blocks()).isEqualTo(8 * 5 * 19 * 10);
    assertThat(all.served()).isEqualTo(8 * 5 * 19 * 10);
    assertNoFallback(all);
    assertThat(all.connections()).isEqualTo(19);
    assertThat(all.maxReadBytesInFlight()).isLessThanOrEqualTo(READS_BYTES_MAX);
    assertThat(all.highestPinnedBytes()).isLessThanOrEqualTo(PINNED_BYTES);
    // Tasks of later waves do not begin together, so each has requests of its own to each peer.
    int requests = 8 * 5 * 19;
    assertThat(all.messages()).isLessThanOrEqualTo(4L * requests);
    assertThat(all.work()).isLessThanOrEqualTo(5 * two.work());
  }

  /** Counted apart, blocks by READ and by TCP of a reader add up to what it wanted. */
  @Test
  void shouldCountTheFallbacksOfEachReaderOnce() throws Exception {
    int executors = 65;
    int tasks = 64;
    GrowthRun.Result result =
        run(new GrowthRun.Shape(executors, executors, tasks, 64 << 10, 8L << 20));
    assertThat(result.fallbacks()).isNotEmpty();
    assertThat(result.fallbacksOfOthers()).isNotEmpty();
    assertThat(result.wanted()).isEqualTo((executors - 1L) * tasks);
  }

  /** At the largest size connections make room for each other. */
  @Test
  void shouldShowTheGrowthOfTheLastIntervalBesideTheFit() throws Exception {
    List<GrowthRun.Result> results = new ArrayList<>();
    for (int executors : new int[] {11, 21, 41, 81}) {
      results.add(
          run(new GrowthRun.Shape(executors, 5 * executors, 4, 64 << 10, PINNED_BYTES, 40)));
    }
    assertThat(results).extracting(GrowthRun.Result::connections).containsExactly(10, 20, 40, 40);
    double fitted = SimulatedGrowth.fittedExponent(results, Quantity.CONNECTIONS);
    assertThat(SimulatedGrowth.lastExponent(results, Quantity.CONNECTIONS))
        .isCloseTo(0, within(1e-9));
    assertThat(fitted).isBetween(0.6, 0.9);
    assertThat(results.get(2).queuePairs()).isEqualTo(40);
    assertThat(results.get(3).queuePairs()).as("one for each peer").isGreaterThanOrEqualTo(80);
  }

  /**
   * Up to 2,000 executors. Its result is {@code target/growth.json}; nothing is timed, so other
   * load of the machine has no effect.
   */
  @Test
  @Tag("nightly")
  void shouldMeasureGrowth() throws Exception {
    List<GrowthRun.Result> growth = new ArrayList<>();
    for (int executors : new int[] {10, 30, 100, 300, 1_000, 2_000}) {
      growth.add(run(executors, 10_000, 4, 64 << 10));
    }
    int incastExecutors = 1_001;
    List<GrowthRun.Result> incast = new ArrayList<>();
    for (long pinnedBytes : new long[] {256L << 20, 1L << 30, 4L << 30}) {
      incast.add(
          run(new GrowthRun.Shape(incastExecutors, incastExecutors, 64, 64 << 10, pinnedBytes)));
    }
    // 10,000 x 10,000 blocks with 500 executors.
    int waveExecutors = 500;
    List<GrowthRun.Result> waves = new ArrayList<>();
    waves.add(runWaves(waveExecutors, 4 << 10, 1L << 30));
    waves.add(runWaves(waveExecutors, 64 << 10, 1L << 30));
    waves.add(runWaves(waveExecutors, 64 << 10, 4L << 30));
    new SimulatedGrowth(growth, incast, waves).write(Path.of("target/growth.json"));
  }

  private GrowthRun.Result runWaves(int executors, int blockBytes, long pinnedBytes)
      throws Exception {
    return run(GrowthRun.Shape.inWaves(executors, 20 * executors, 4, 5, blockBytes, pinnedBytes));
  }
}
