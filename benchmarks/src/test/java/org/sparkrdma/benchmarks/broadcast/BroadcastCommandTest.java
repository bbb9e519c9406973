// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.broadcast;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.benchmarks.broadcast.BroadcastPlan.Mode;
import org.sparkrdma.benchmarks.jobs.BenchmarkPlan;
import org.sparkrdma.launch.Refusal;

class BroadcastCommandTest {
  private static final BroadcastPlan.Shape SHAPE = BroadcastPlan.Shape.parse("100mx4");
  private static final List<Mode> MODES = List.of(Mode.TORRENT, Mode.TCP, Mode.READ);

  @TempDir private Path directory;

  @Test
  void shouldRefuseShapesWithTheValueAndTheAllowedOnes() {
    assertThat(refusal("100m")).contains("'100m' has 1 parts instead of 2");
    assertThat(refusal("5x2")).contains("'5' is not a size");
    assertThat(refusal("2gx2")).contains("'2g' in '2gx2' must be at most 1 GiB");
    assertThat(refusal("100mx1")).contains("'1' in '100mx1' must be a whole number from 2 to 16");
    assertThat(refusal("1mx2")).contains("'1mx2'").contains("give --below, or at least 64 MiB");
    assertThat(refusal("--below", "64mx2")).contains("'64mx2'").contains("less than 64 MiB");
    assertThat(refusal("--join", "1m")).contains("at least 64 MiB");
  }

  @Test
  void shouldRefuseOptionsThatDoNotFitTogetherOrAreOutOfRange() {
    assertThat(refusal("--below", "--join", "100m")).contains("less than 64 MiB");
    assertThat(refusal("--join", "100m", "100mx2")).contains("give no '100mx2' beside it");
    assertThat(refusal("--rounds", "0")).contains("--rounds is '0'").contains("from 1 to 1000");
    assertThat(refusal("--modes", "udp")).contains("--modes").contains("udp").contains("TORRENT");
  }

  private String refusal(String... options) {
    List<String> all =
        new ArrayList<>(List.of("--project", "p", "--work-dir", directory + "/work"));
    all.addAll(List.of(options));
    return Refusal.of(BroadcastCommand.class, all.toArray(new String[0]));
  }

  @Test
  void shouldBeginRoundsWithAnotherModeAndReverseEverySecondOne() {
    List<List<Mode>> orders =
        IntStream.rangeClosed(1, 6).mapToObj(round -> BenchmarkPlan.order(MODES, round)).toList();
    assertThat(orders.get(0)).isEqualTo(MODES);
    assertThat(orders.get(1)).containsExactly(Mode.READ, Mode.TCP, Mode.TORRENT);
    assertThat(orders.stream().map(order -> order.get(0)))
        .containsExactlyInAnyOrder(
            Mode.TORRENT, Mode.TORRENT, Mode.TCP, Mode.TCP, Mode.READ, Mode.READ);
  }

  @Test
  void shouldPrintMedianRangeAndRatiosOfTheSameRound() {
    List<BroadcastResult.Run> runs = new ArrayList<>();
    for (Mode mode : MODES) {
      runs.add(
          new BroadcastResult.Run(SHAPE, mode, BroadcastPlan.EGRESS_ROUND, Map.of("egress", 1.5)));
      for (int round = 1; round <= 3; round++) {
        double seconds = round * (3.0 - mode.ordinal() / 2.0);
        runs.add(
            new BroadcastResult.Run(
                SHAPE, mode, round, Map.of("job", seconds, "both", seconds, "read", 0.25)));
      }
    }
    BroadcastPlan plan = new BroadcastPlan(false, List.of(SHAPE), MODES, 3, 1);
    String read =
        new BroadcastResult(null, plan, runs)
            .table()
            .lines()
            .filter(row -> row.startsWith("read"))
            .findFirst()
            .get();
    // 1.5 s of READ in the first round, 3 s of Torrent, 2 s of the pipeline by TCP.
    assertThat(read)
        .contains(" 3.00 (1.50..4.50) ")
        .contains(" 0.50 (0.50..0.50) ")
        .contains(" 0.75 (0.75..0.75) ")
        .contains(" 0.25 (0.25..0.25) ")
        .contains(" 1.50 ");
  }
}
