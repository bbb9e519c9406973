// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.CaseReport;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.RunResult;
import org.sparkrdma.benchmarks.jobs.ScarceCommand.Cell;
import org.sparkrdma.benchmarks.jobs.ScarceCommand.Result;
import org.sparkrdma.benchmarks.jobs.ScarceCommand.Sick;
import org.sparkrdma.benchmarks.jobs.ScarceCommand.Verdict;
import org.sparkrdma.shuffle.settings.ShuffleSettings;

@Timeout(30)
class ScarceCommandTest {
  private static final Cell CELL = new Cell("64x64x256k", "281m", "auto", Sick.NOTHING);
  private static final int SLOTS = 8;
  private static final List<ShuffleMode> MODES =
      List.of(ShuffleMode.VANILLA, ShuffleMode.CONTROL, ShuffleMode.RDMA);

  private static RunResult run(
      ShuffleMode mode,
      int round,
      double seconds,
      double wait,
      long read,
      long tcp,
      RunResult.Frozen frozen) {
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
        frozen);
  }

  /** A round in which the tasks of the executors that were not stopped took so long. */
  private static RunResult frozen(ShuffleMode mode, double seconds, double wait, long tcpAfter) {
    RunResult.ByPath after = new RunResult.ByPath(1_000 - tcpAfter, tcpAfter, 0);
    return run(mode, 1, 40, 30, 0, 1_000, new RunResult.Frozen(seconds, wait, after));
  }

  private static Verdict frozen(double seconds, double wait, long tcpAfter) {
    List<RunResult> runs =
        List.of(
            frozen(ShuffleMode.VANILLA, 100, 10, 1_000),
            frozen(ShuffleMode.CONTROL, 101, 10, 1_000),
            frozen(ShuffleMode.RDMA, seconds, wait, tcpAfter));
    Cell cell = new Cell("64x64x256k", "281m", "auto", Sick.READER);
    return ScarceCommand.result(cell, CaseReport.of(cell.shape(), MODES, runs), SLOTS, 1).verdict();
  }

  /** Rounds of 10 seconds under Spark's own shuffle. */
  private static Result result(Cell cell, double[] control, double[] rdma, double wait, long tcp) {
    List<RunResult> runs = new ArrayList<>();
    for (int i = 0; i < rdma.length; i++) {
      runs.add(run(ShuffleMode.VANILLA, i + 1, 10, 1, 0, 1_000, null));
      runs.add(
          run(ShuffleMode.CONTROL, i + 1, 10 * control[i % control.length], 1, 0, 1_000, null));
      runs.add(run(ShuffleMode.RDMA, i + 1, 10 * rdma[i], wait, 1_000 - tcp, tcp, null));
    }
    return ScarceCommand.result(cell, CaseReport.of(cell.shape(), MODES, runs), SLOTS, rdma.length);
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
    Cell roomy = new Cell(CELL.shape(), "4g", "auto", Sick.NOTHING);
    assertThat(result(roomy, EQUAL, same, 1, 11).verdict()).isEqualTo(Verdict.RED);
    Cell tiny = new Cell(CELL.shape(), "64m", "auto", Sick.NOTHING);
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
  void shouldShareSparksRoundsBetweenCellsOfOneShapeAndNumberOfExecutors() {
    List<List<Cell>> shared = ScarceCommand.byRounds(ScarceCommand.cells(false));
    assertThat(shared).hasSizeLessThan(ScarceCommand.cells(false).size() / 4);
    for (List<Cell> cells : shared) {
      Cell first = cells.get(0);
      assertThat(cells)
          .allMatch(cell -> cell.shape().equals(first.shape()))
          .allMatch(cell -> cell.executors() == first.executors());
    }
  }

  @Test
  void shouldSetOnlyWhatThePlugInAccepts() {
    assertThat(ScarceCommand.cells(false)).containsAll(ScarceCommand.cells(true));
    assertThat(ScarceCommand.cells(false)).extracting(Cell::toString).doesNotHaveDuplicates();
    for (Cell cell : ScarceCommand.cells(false)) {
      ShuffleSettings.of(cell.conf());
      GroupBy.parse(cell.shape());
    }
    assertThatThrownBy(
            () -> ShuffleSettings.of(new Cell("2x2x4k", "none", "auto", Sick.NOTHING).conf()))
        .hasMessageContaining("pinned.max");
  }

  @Test
  void shouldReadAllFromASickPeerOverTcpAsLongAsThatIsNotSlower() {
    double[] same = {1, 1, 1, 1, 1};
    double[] slower = {1.06, 1.2, 1.07, 1.06, 1.5};
    for (Sick sick : List.of(Sick.READS, Sick.CONNECTS)) {
      Cell cell = new Cell("64x64x256k", "281m", "auto", sick);
      assertThat(result(cell, EQUAL, same, 1, 900).verdict()).isEqualTo(Verdict.GREEN);
      assertThat(result(cell, EQUAL, slower, 1, 900).verdict()).isEqualTo(Verdict.RED);
    }
  }

  @Test
  void shouldJudgeTheOthersTasksAndTheRunAfterwardsWhereAReaderIsFrozen() {
    assertThat(frozen(104, 10, 50)).isEqualTo(Verdict.GREEN);
    assertThat(frozen(106, 10, 50)).isEqualTo(Verdict.RED);
    assertThat(frozen(104, 10.9, 50)).isEqualTo(Verdict.GREEN);
    assertThat(frozen(104, 11.1, 50)).isEqualTo(Verdict.RED);
    assertThat(frozen(104, 10, 51)).isEqualTo(Verdict.RED);
  }
}
