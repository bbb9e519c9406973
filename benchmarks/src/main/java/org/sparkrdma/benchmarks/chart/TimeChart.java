// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.chart;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.CaseReport;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.Metric;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.RunResult;
import org.sparkrdma.benchmarks.jobs.ShuffleMode;

/**
 * Where the time of executors goes in jobs, as a picture: a bar for Spark's shuffle and one for the
 * plug-in, as parts of the time with Spark's.
 *
 * @param reports names of the files
 * @param bars at least one
 */
record TimeChart(List<String> reports, List<Bar> bars) {
  private static final String TITLE = "Where the time of executors goes: less is better";
  private static final String LEGEND =
      "One machine, no network. Percent of Spark's sum: CPU time of the job (grey) | of the transfer"
          + " (blue) | waiting (orange)";

  private static final int PLOT_X = 250;

  /** Of 100 percent. */
  private static final int PLOT_WIDTH = 400;

  private static final int BAR = 14;
  private static final double PERCENT = 100;
  private static final double GB = 1e9;
  private static final List<String> CLASSES = List.of("work", "transfer", "waiting");

  /**
   * One shuffle in one job.
   *
   * @param parts percents of the sum with Spark's shuffle: CPU time without that of the transfer,
   *     that of the transfer at both ends, and waiting for blocks
   */
  record Bar(String label, List<Double> parts) {
    private String text() {
      return parts.stream()
          .map(part -> RatioChart.format("%.1f", part))
          .collect(Collectors.joining(" | "));
    }
  }

  /** The bars of a job: of Spark's shuffle and of the plug-in. */
  static List<Bar> of(BenchmarkReport report, JsonNode transfers) {
    List<Bar> bars = new ArrayList<>();
    for (CaseReport one : report.cases()) {
      double whole = 0;
      for (ShuffleMode mode : List.of(ShuffleMode.VANILLA, ShuffleMode.RDMA)) {
        for (CaseReport.Summary summary : one.summaries()) {
          if (summary.mode() == mode) {
            double cpu = summary.values().get(Metric.CPU).median();
            double wait = summary.values().get(Metric.FETCH_WAIT).median();
            double transfer = transferSeconds(one.runsOf(mode).get(0), transfers);
            whole = whole == 0 ? cpu + wait : whole;
            double percent = PERCENT / whole;
            bars.add(
                new Bar(
                    RatioChart.label(report.name(one), mode.toString()),
                    List.of((cpu - transfer) * percent, transfer * percent, wait * percent)));
          }
        }
      }
    }
    return bars;
  }

  /**
   * What the transfer of a run costs, in blocks of about that length. Those shorter than any that
   * was measured cost as much each as the shortest.
   */
  private static double transferSeconds(RunResult run, JsonNode transfers) {
    return transferSeconds("rdma", run.bytes().read(), run.blocks().read(), transfers)
        + transferSeconds("netty", run.bytes().tcp(), run.blocks().tcp(), transfers);
  }

  private static double transferSeconds(
      String client, long bytes, long blocks, JsonNode transfers) {
    double meanBytes = (double) bytes / Math.max(1, blocks);
    List<JsonNode> cases = new ArrayList<>();
    transfers.path("cases").forEach(cases::add);
    double shortest =
        cases.stream().mapToDouble(one -> one.path("blockBytes").asDouble()).min().orElse(0);
    cases.sort(Comparator.comparingDouble(one -> far(one, meanBytes)));
    JsonNode figures = (cases.isEmpty() ? transfers : cases.get(0)).path("figures");
    double server = figures.path(client + "ServerSecondsPerGb").path("median").asDouble();
    double reader = figures.path(client + "ClientSecondsPerGb").path("median").asDouble();
    return Math.max((double) bytes, shortest * blocks) / GB * (server + reader);
  }

  private static double far(JsonNode one, double meanBytes) {
    return Math.abs(Math.log(one.path("blockBytes").asDouble() / Math.max(1, meanBytes)));
  }

  /** What the picture shows, with all numbers, for readers who do not see it. */
  String description() {
    return bars.stream()
        .map(bar -> bar.label() + " " + bar.text())
        .collect(Collectors.joining("; ", TITLE + ". " + LEGEND + ": ", ""));
  }

  /** The picture as SVG. */
  String svg() throws XMLStreamException {
    StringWriter text = new StringWriter();
    XMLStreamWriter out =
        RatioChart.begin(text, bars.size(), TITLE, description(), reports, LEGEND);
    for (int i = 0; i < bars.size(); i++) {
      Bar bar = bars.get(i);
      int y = RatioChart.y(i);
      RatioChart.rowLabel(out, bar.label(), PLOT_X, y);
      double x = PLOT_X;
      for (int part = 0; part < CLASSES.size(); part++) {
        double width = Math.max(0, bar.parts().get(part)) * PLOT_WIDTH / PERCENT;
        String place =
            RatioChart.format("x=%.1f y=%d width=%.1f height=%d", x, y - BAR / 2, width, BAR);
        RatioChart.element(out, "rect", "", place + " class=" + CLASSES.get(part));
        x += width;
      }
      RatioChart.rowText(out, bar.text(), x, y);
    }
    out.writeEndElement();
    out.close();
    return text + "\n";
  }
}
