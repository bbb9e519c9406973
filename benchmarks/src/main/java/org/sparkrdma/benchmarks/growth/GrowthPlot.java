// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.growth;

import java.util.List;
import java.util.Locale;

/**
 * A plot of one quantity over the number of executors, as SVG; both axes are logarithmic.
 *
 * @param shuffles at least two, of ascending numbers of executors
 */
record GrowthPlot(List<SimulatedShuffle> shuffles, String quantity, Growth.Exponents exponents) {
  private static final int WIDTH = 420;
  private static final int HEIGHT = 260;
  private static final int MARGIN = 50;

  /** Logarithms of values near 0 would leave no room for the others. */
  private static final double LEAST_VALUE = 1e-3;

  String svg(String lastInterval) {
    double low = shuffles.stream().mapToDouble(this::logValue).min().orElseThrow();
    double high = shuffles.stream().mapToDouble(this::logValue).max().orElseThrow();
    double first = logExecutors(shuffles.get(0));
    double last = logExecutors(shuffles.get(shuffles.size() - 1));
    // A quantity that hardly changes is drawn as a flat line.
    double range = Math.max(1, high - low);
    StringBuilder points = new StringBuilder();
    StringBuilder labels = new StringBuilder();
    for (SimulatedShuffle one : shuffles) {
      double x = MARGIN + (logExecutors(one) - first) / (last - first) * (WIDTH - 2 * MARGIN);
      double y = HEIGHT - MARGIN - (logValue(one) - low) / range * (HEIGHT - 2 * MARGIN);
      points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, y));
      labels.append(
          String.format(
              Locale.ROOT,
              "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>%s%s%n",
              x,
              y,
              text(x, y - 8, GrowthTable.number(one.quantities().get(quantity))),
              text(x, HEIGHT - MARGIN / 2.0, Integer.toString(one.shape().executors()))));
    }
    return """
        <svg viewBox="0 0 %d %d" role="img"><text x="10" y="16">%s: exponent %s fitted, %s %s</text>
        <polyline points="%s" fill="none" stroke="#1f77b4" stroke-width="2"/>
        %s%s</svg>
        """
        .formatted(
            WIDTH,
            HEIGHT,
            quantity,
            GrowthTable.exponent(exponents.fitted()),
            GrowthTable.exponent(exponents.last()),
            lastInterval,
            points.toString().strip(),
            labels,
            text(WIDTH / 2.0, HEIGHT - 6, "executors"));
  }

  private static String text(double x, double y, String content) {
    return String.format(
        Locale.ROOT, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>", x, y, content);
  }

  private static double logExecutors(SimulatedShuffle one) {
    return Math.log(one.shape().executors());
  }

  private double logValue(SimulatedShuffle one) {
    return Math.log(Math.max(LEAST_VALUE, one.quantities().get(quantity)));
  }
}
