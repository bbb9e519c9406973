// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.broadcast;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.sparkrdma.benchmarks.broadcast.BroadcastPlan.Mode;
import org.sparkrdma.benchmarks.jobs.Environment;
import org.sparkrdma.launch.Quartiles;
import org.sparkrdma.launch.TextTable;

/**
 * Result of the driver, and the report, as JSON.
 *
 * @param runs in the order of time
 */
record BroadcastResult(Environment environment, BroadcastPlan plan, List<Run> runs) {
  private static final String EXPLANATION =
      """
      Medians of the rounds, with the range in brackets. broadcast: seconds of broadcast() in the driver; value:
      of the slowest value() in an executor; job: until the last executor has checked the value; both: of
      broadcast() and the job. egress: what the driver sent, as a multiple of the value, in a round of its own;
      read: the part of all bytes received that came by READ.""";

  /**
   * One application.
   *
   * @param round {@link BroadcastPlan#EGRESS_ROUND}, which has {@code egress} alone, or from 1
   * @param figures medians of the measured values, by name: {@code broadcast}, {@code job}, {@code
   *     both} and {@code value} in seconds, {@code egress} and {@code read} as multiples of the
   *     bytes; of a join there is neither {@code broadcast} nor {@code value}
   */
  record Run(BroadcastPlan.Shape shape, Mode mode, int round, Map<String, Double> figures) {}

  /** The runs as plain text: a table for each shape. */
  String table() {
    List<String> columns =
        new ArrayList<>(List.of("broadcast", "value", "job", "both", "egress", "read"));
    for (Mode base : plan.modes()) {
      if (base == plan.modes().get(0) || base == Mode.TCP) {
        columns.addAll(List.of("job / " + base, "both / " + base));
      }
    }
    StringBuilder text = new StringBuilder();
    for (BroadcastPlan.Shape shape : plan.shapes()) {
      List<Run> own = runs.stream().filter(run -> run.shape().equals(shape)).toList();
      String heading = (plan.join() ? "join " : "value ") + shape;
      TextTable<Mode> table = new TextTable<Mode>().text(heading, Mode::toString);
      columns.forEach(column -> table.number(column, mode -> cell(column, own, mode)));
      text.append(table.of(plan.modes())).append('\n');
    }
    return text + EXPLANATION;
  }

  /**
   * @param column a figure, or its ratio to that of a mode of the same round
   */
  private static String cell(String column, List<Run> runs, Mode mode) {
    String[] parts = column.split(" / ", 2);
    List<Double> values =
        runs.stream()
            .filter(run -> run.mode() == mode && run.figures().containsKey(parts[0]))
            .map(run -> run.figures().get(parts[0]) / base(parts, runs, run.round()))
            .toList();
    if (values.isEmpty()) {
      return "-";
    }
    double median = Quartiles.of(values, value -> value).median();
    return new Quartiles(median, Collections.min(values), Collections.max(values)).format(2);
  }

  private static double base(String[] parts, List<Run> runs, int round) {
    return parts.length == 1
        ? 1
        : runs.stream()
            .filter(run -> run.round() == round && run.mode().toString().equals(parts[1]))
            .mapToDouble(run -> run.figures().get(parts[0]))
            .findFirst()
            .orElse(1);
  }
}
