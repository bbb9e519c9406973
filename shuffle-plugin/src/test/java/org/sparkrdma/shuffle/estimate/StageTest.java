// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.estimate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.estimate.Stage.Saving;
import org.sparkrdma.shuffle.estimate.Stage.Task;

/** Replays of stages, with figures that are computed by hand. */
class StageTest {
  private static final Offset<Double> EXACT = within(1e-9);
  private static final long GB = 1_000_000_000;

  @TempDir private Path directory;
  private CostTable costs;

  @BeforeEach
  void measure() throws Exception {
    costs = CostTable.measured(List.of(CostTableTest.report(directory.resolve("r"), 1000, false)));
  }

  private static Task task(long launchMs, long durationMs, long waitMs, long bytes) {
    long cpuNs = durationMs * 500_000;
    return new Task(launchMs, durationMs, "h", cpuNs, waitMs, bytes, bytes, bytes / 1_000);
  }

  private Saving saving(double linkBytesPerSecond, int slots, int cores, Task... tasks) {
    Stage stage = new Stage(costs, linkBytesPerSecond);
    List.of(tasks).forEach(stage::add);
    stage.executors(slots, cores);
    return stage.saving();
  }

  private Saving saving(int slots, int cores, Task... tasks) {
    return saving(Double.POSITIVE_INFINITY, slots, cores, tasks);
  }

  @Test
  void shouldReplayTheTasksOnTheSlotsWithoutTheirWaiting() {
    // Two slots: 10 + 10 s each; without waiting 6 + 10 s on one, and 10 + 6 s on the other.
    Saving saving =
        saving(
            2,
            2,
            task(1, 10_000, 4_000, 1_000),
            task(1, 10_000, 0, 1_000),
            task(10_001, 10_000, 0, 1_000),
            task(10_001, 10_000, 4_000, 1_000));
    assertThat(saving.waitingMost()).isCloseTo(4_000, EXACT);
    // A transfer that is four times as fast explains three quarters; half of them are likely.
    assertThat(saving.waitingLikely()).isCloseTo(4_000 * 0.75 / 2, EXACT);
  }

  @Test
  void shouldSaveNothingByTasksThatAreNotTheLastOnes() {
    Saving saving = saving(2, 2, task(1, 10_000, 9_000, 1_000), task(1, 10_000, 0, 1_000));
    assertThat(saving.waitingMost()).isZero();
  }

  /** Tasks of 9, 9 and 10 s, of which the last waits all the time. */
  @Test
  void shouldUseTheSlotsOfExecutors() {
    Task[] atOnce = {task(1, 9_000, 0, 0), task(1, 9_000, 0, 0), task(1, 10_000, 10_000, 1_000)};
    // Three slots take 10 or 9 s, two 19 or 9 s.
    assertThat(saving(8, 8, atOnce).waitingMost()).isCloseTo(10_000 * (1 - 9 / 10.0), EXACT);
    assertThat(saving(2, 2, atOnce).waitingMost()).isCloseTo(10_000 * (1 - 9 / 19.0), EXACT);
    // More than memory has room for.
    int all = Integer.MAX_VALUE;
    assertThat(saving(all, all, atOnce).waitingMost()).isCloseTo(10_000 * (1 - 9 / 10.0), EXACT);
    // 28 s of tasks in 10 s.
    assertThat(saving(0, 0, atOnce).waitingMost()).isCloseTo(10_000 * (1 - 9 / 10.0), EXACT);
  }

  @Test
  void shouldCountOnlyTheWaitingForBlocksThatAreNotMerged() {
    Task halfMerged = new Task(1, 10_000, "h", 0, 4_000, 8_000, 4_000, 4);
    assertThat(saving(1, 1, halfMerged).waitingMost()).isCloseTo(2_000, EXACT);
    Task merged = new Task(1, 10_000, "h", 0, 4_000, 8_000, 0, 0);
    assertThat(saving(1, 1, merged).waitingMost()).isZero();
    assertThat(saving(1, 1, merged).cpuHigh()).isZero();
  }

  /** 10⁹ bytes in blocks of 1,000 bytes save 4.5 core-seconds, on two cores. */
  @Test
  void shouldShareTheSavedCpuTimeByTheCores() {
    Saving saving = saving(2, 2, task(1, 100_000, 0, GB));
    assertThat(saving.cpuHigh()).isCloseTo(4_500 / 2.0, EXACT);
    // The task kept one of two cores busy for half of the time.
    assertThat(saving.cpuLow()).isCloseTo(0.25 * 4_500 / 2, EXACT);
    assertThat(saving.cpuLikely()).isCloseTo(1.25 / 2 * 4_500 / 2, EXACT);
  }

  @Test
  void shouldNotMoveBytesFasterThanTheLink() {
    // 8 s for the bytes of a task alone, so that 2 of its 6 s of waiting are left.
    Saving one = saving(GB / 8.0, 1, 1, task(1, 10_000, 6_000, GB));
    assertThat(one.waitingMost()).isCloseTo(2_000, EXACT);
    assertThat(one.floor()).isCloseTo(8_000, EXACT);
    assertThat(one.cpuHigh()).isCloseTo(0, EXACT);
    // Both tasks of a host need 8 s of its link together.
    Task half = task(1, 10_000, 6_000, GB / 2);
    assertThat(saving(GB / 8.0, 2, 2, half, half).waitingMost()).isCloseTo(2_000, EXACT);
  }

  @Test
  void shouldReplayNoMoreTasksThanItHolds() {
    Stage stage = new Stage(costs, Double.POSITIVE_INFINITY);
    int count = Stage.MAX_HELD + 10;
    for (int i = 0; i < count; i++) {
      stage.add(task(1 + 2L * i, 2, 1, 1_000));
    }
    assertThat(stage.saving().waitingMost()).isCloseTo(count, EXACT);
  }
}
