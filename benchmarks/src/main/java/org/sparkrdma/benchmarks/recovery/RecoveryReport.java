// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.recovery;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.sparkrdma.benchmarks.transfer.Spread;
import org.sparkrdma.launch.TextTable;

/**
 * All pairs, in the order of time.
 *
 * @param plan input of every application
 */
record RecoveryReport(RecoveryPlan plan, List<Pair> pairs) {
  private static final List<String> HEADINGS =
      List.of("shuffle", "undisturbed s", "from loss to end s", "tasks failed", "stages retried");

  /** Both contenders in one round. */
  record Pair(RecoveryResult vanilla, RecoveryResult rdma) {
    double ratio() {
      return rdma.recoverySeconds() / vanilla.recoverySeconds();
    }
  }

  /** Recovery time with the plug-in divided by Spark's own: the ratio of the medians. */
  @JsonProperty
  double ratioOfMedians() {
    return Spread.of(results(ComparedShuffle.RDMA), RecoveryResult::recoverySeconds).median()
        / Spread.of(results(ComparedShuffle.VANILLA), RecoveryResult::recoverySeconds).median();
  }

  /** Spread of the ratios of the pairs. */
  @JsonProperty
  Spread ratiosOfPairs() {
    return Spread.of(pairs, Pair::ratio);
  }

  /** The pairs as plain text. */
  String table() {
    List<List<String>> rows = new ArrayList<>(List.of(HEADINGS));
    for (ComparedShuffle shuffle : ComparedShuffle.values()) {
      List<RecoveryResult> results = results(shuffle);
      rows.add(
          List.of(
              shuffle.toString(),
              Spread.of(results, RecoveryResult::undisturbedSeconds).format(2),
              Spread.of(results, RecoveryResult::recoverySeconds).format(2),
              Spread.of(results, RecoveryResult::failedTasks).format(0),
              Spread.of(results, RecoveryResult::retriedStages).format(0)));
    }
    return "median (min..max) of %d rounds%n".formatted(pairs.size())
        + TextTable.of(rows, column -> column == 0)
        + String.format(
            Locale.ROOT,
            "recovery, rdma / vanilla: %.2f (ratio of medians); of pairs %s%n",
            ratioOfMedians(),
            ratiosOfPairs().format(2));
  }

  private List<RecoveryResult> results(ComparedShuffle shuffle) {
    return pairs.stream()
        .map(pair -> shuffle == ComparedShuffle.VANILLA ? pair.vanilla() : pair.rdma())
        .toList();
  }
}
