// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.chart;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

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
      "One machine, no network. Percent of Spark's sum: CPU time of the job | of the transfer (blue)"
          + " | waiting for blocks";

  private static final int PLOT_X = 250;

  /** Of 100 percent. */
  private static final int PLOT_WIDTH = 400;

  private static final int BAR = 14;
  private static final double PERCENT = 100;
  private static final double GB = 1e9;
  private static final List<String> CLASSES = List.of("work", "transfer", "ink");

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
  static List<Bar> of(JsonNode job, JsonNode transfers) {
    List<Bar> bars = new ArrayList<>();
    String name = job.at("/plan/job").asText();
    boolean fresh = job.at("/plan/warmUps").asInt() == 0;
    for (JsonNode one : job.path("cases")) {
      double whole = 0;
      for (String mode : List.of("vanilla", "rdma")) {
        JsonNode values = null;
        for (JsonNode summary : one.path("summaries")) {
          values = summary.path("mode").asText().equals(mode) ? summary.path("values") : values;
        }
        if (values != null) {
          double cpu = values.at("/executor CPU/median").asDouble();
          double wait = values.at("/fetch wait/median").asDouble();
          double transfer = transferSeconds(one.path("runs"), mode, transfers);
          whole = whole == 0 ? cpu + wait : whole;
          double percent = PERCENT / whole;
          String shape = name + " " + one.path("shape").asText() + (fresh ? ", new executors" : "");
          String label = RatioChart.label(shape, mode);
          bars.add(
              new Bar(
                  label, List.of((cpu - transfer) * percent, transfer * percent, wait * percent)));
        }
      }
    }
    return bars;
  }

  /** Bytes of the first run, times what their transfer costs in blocks of about that length. */
  private static double transferSeconds(JsonNode runs, String mode, JsonNode transfers) {
    JsonNode run =
        StreamSupport.stream(runs.spliterator(), false)
            .filter(any -> any.path("mode").asText().equals(mode))
            .findFirst()
            .orElseThrow();
    double seconds = 0;
    for (String path : List.of("read", "tcp")) {
      double bytes = run.at("/bytes/" + path).asDouble();
      double blocks = Math.max(1, run.at("/blocks/" + path).asDouble());
      String client = path.equals("read") ? "rdma" : "netty";
      JsonNode nearest = null;
      for (JsonNode one : transfers.path("cases")) {
        boolean nearer = nearest == null || far(one, bytes / blocks) < far(nearest, bytes / blocks);
        nearest = nearer ? one : nearest;
      }
      for (String end : List.of("Server", "Client")) {
        String figure = "/figures/" + client + end + "SecondsPerGb/median";
        seconds += bytes / GB * nearest.at(figure).asDouble();
      }
    }
    return seconds;
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
