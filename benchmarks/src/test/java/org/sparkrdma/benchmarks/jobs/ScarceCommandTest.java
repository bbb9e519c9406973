// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.CaseReport;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.RunResult;
import org.sparkrdma.benchmarks.jobs.ScarceCommand.Cell;
import org.sparkrdma.benchmarks.jobs.ScarceCommand.Result;
import org.sparkrdma.benchmarks.jobs.ScarceCommand.Verdict;

@Timeout(30)
class ScarceCommandTest {
  private static final Cell CELL = new Cell("64x64x256k", "281m", "auto");
  private static final int SLOTS = 8;

  private static RunResult run(
      ShuffleMode mode, int round, double seconds, double wait, long read, long tcp) {
    return new RunResult(
        mode,
        round,
        2,
        seconds,
        wait,
        1,
        0,
        1,
        new RunResult.ByPath(read, tcp, 0),
        new RunResult.ByPath(1, 0, 0),
        Map.of(),
        null,
        Map.of(),
        null);
  }

  /** Rounds of 10 seconds under Spark's own shuffle. */
  private static Result result(Cell cell, double[] control, double[] rdma, double wait, long tcp) {
    List<ShuffleMode> modes = List.of(ShuffleMode.VANILLA, ShuffleMode.CONTROL, ShuffleMode.RDMA);
    List<RunResult> runs = new ArrayList<>();
    for (int i = 0; i < rdma.length; i++) {
      runs.add(run(ShuffleMode.VANILLA, i + 1, 10, 1, 0, 1_000));
      runs.add(run(ShuffleMode.CONTROL, i + 1, 10 * control[i % control.length], 1, 0, 1_000));
      runs.add(run(ShuffleMode.RDMA, i + 1, 10 * rdma[i], wait, 1_000 - tcp, tcp));
    }
    return ScarceCommand.result(cell, CaseReport.of(cell.shape(), modes, runs), SLOTS, rdma.length);
  }

  private static final double[] EQUAL = {1, 1.01, 0.99};

  @Test
  void shouldCallACellRedOnlyWhenEveryRoundIsSlower() {
    double[] slower = {1.06, 1.2, 1.07, 1.06, 1.5};
    assertThat(result(CELL, EQUAL, slower, 1, 0).verdict()).isEqualTo(Verdict.RED);
    slower[2] = 1.04;
    assertThat(result(CELL, EQUAL, slower, 1, 0).verdict()).isEqualTo(Verdict.GREEN);
  }

  @Test
  void shouldCountFetchWaitWhereItIsAPartOfTheTime() {
    double[] same = {1, 1, 1, 1, 1};
    // One percent of 10 seconds of 8 tasks.
    assertThat(result(CELL, EQUAL, same, 1.79, 0).verdict()).isEqualTo(Verdict.GREEN);
    assertThat(result(CELL, EQUAL, same, 1.81, 0).verdict()).isEqualTo(Verdict.RED);
  }

  @Test
  void shouldLimitWhatComesOverTcp() {
    double[] same = {1, 1, 1, 1, 1};
    assertThat(result(CELL, EQUAL, same, 1, 50).verdict()).isEqualTo(Verdict.GREEN);
    assertThat(result(CELL, EQUAL, same, 1, 51).verdict()).isEqualTo(Verdict.RED);
    Cell roomy = new Cell(CELL.shape(), "4g", "auto");
    assertThat(result(roomy, EQUAL, same, 1, 11).verdict()).isEqualTo(Verdict.RED);
    Cell tiny = new Cell(CELL.shape(), "64m", "auto");
    assertThat(result(tiny, EQUAL, same, 1, 900).verdict()).isEqualTo(Verdict.GREEN);
  }

  @Test
  void shouldNotBelieveACellWhoseEqualShufflesDiffer() {
    double[] same = {1, 1, 1, 1, 1};
    Result unclear = result(CELL, new double[] {0.8, 1, 1.2}, same, 1, 0);
    assertThat(unclear.verdict()).isEqualTo(Verdict.UNCLEAR);
    assertThat(ScarceCommand.exitCode(List.of(unclear))).isEqualTo(2);
    Result red = result(CELL, EQUAL, new double[] {2, 2, 2}, 1, 0);
    assertThat(ScarceCommand.exitCode(List.of(unclear, red))).isEqualTo(1);
    Result green = result(CELL, EQUAL, same, 1, 0);
    assertThat(ScarceCommand.exitCode(List.of(green))).isZero();
    assertThat(ScarceCommand.table(List.of(green, red))).contains("green", "red", "0.0 %");
  }

  @Test
  void shouldHaveTheCellsThatItsHelpNames() {
    assertThat(ScarceCommand.cells(false)).hasSize(28).doesNotHaveDuplicates();
    assertThat(ScarceCommand.cells(false)).containsAll(ScarceCommand.cells(true));
  }
}
