// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.page;

import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;
import org.sparkrdma.shuffle.ui.figures.BytesByPath;
import org.sparkrdma.shuffle.ui.figures.TimeSeries;

/** Bytes by path over time as SVG inside of the page. Stateless. */
final class Chart {
  private static final int WIDTH = 860;
  private static final int HEIGHT = 220;
  private static final int LEFT = 84;
  private static final int TOP = 12;
  private static final int PLOT_WIDTH = WIDTH - LEFT - 20;
  private static final int PLOT_HEIGHT = HEIGHT - TOP - 34;
  private static final int LINES = 4;

  private Chart() {}

  private record Line(String name, String colour, String dashes, ToLongFunction<BytesByPath> of) {}

  private static final List<Line> ALL =
      List.of(
          new Line("READ", "#2a7ab9", "", BytesByPath::read),
          new Line("of it from the copy pool", "#7fb3d8", "5 3", BytesByPath::copied),
          new Line("TCP", "#d9822b", "", BytesByPath::tcp),
          new Line("local disk", "#8a8a8a", "2 3", BytesByPath::local));

  /** Empty without at least two points. */
  static String svg(List<TimeSeries.Point> points) {
    if (points.size() < 2) {
      return "";
    }
    long first = points.get(0).timeMs();
    long spanMs = Math.max(1, points.get(points.size() - 1).timeMs() - first);
    long highest = Math.max(1, points.stream().mapToLong(p -> p.bytes().highest()).max().orElse(1));
    StringBuilder svg = new StringBuilder(4_096);
    svg.append(
        String.format(
            Locale.ROOT,
            "<svg id=\"rdma-bytes-over-time\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\""
                + " height=\"%d\" role=\"img\" font-size=\"12\" fill=\"currentColor\">",
            WIDTH,
            HEIGHT));
    svg.append("<title>Shuffle bytes by path since the first shuffle</title>");
    for (int i = 0; i <= LINES; i++) {
      double y = TOP + PLOT_HEIGHT * (1 - i / (double) LINES);
      svg.append(
          String.format(
              Locale.ROOT,
              "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#999\""
                  + " stroke-opacity=\"0.35\"/><text x=\"%d\" y=\"%.1f\""
                  + " text-anchor=\"end\">%s</text>",
              LEFT,
              LEFT + PLOT_WIDTH,
              y,
              y,
              LEFT - 6,
              y + 4,
              Html.bytes(Math.round(highest * (i / (double) LINES)))));
      svg.append(
          String.format(
              Locale.ROOT,
              "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>",
              LEFT + PLOT_WIDTH * (i / (double) LINES),
              HEIGHT - 14,
              time(spanMs * i / LINES)));
    }
    for (Line line : ALL) {
      svg.append(polyline(line, points, first, spanMs, highest));
    }
    return svg.append("</svg>").append(legend()).toString();
  }

  private static String polyline(
      Line line, List<TimeSeries.Point> points, long first, long spanMs, long highest) {
    StringBuilder svg = new StringBuilder("<polyline fill=\"none\" stroke-width=\"2\" stroke=\"");
    svg.append(line.colour()).append("\" stroke-dasharray=\"").append(line.dashes());
    svg.append("\" points=\"");
    for (TimeSeries.Point point : points) {
      svg.append(
          String.format(
              Locale.ROOT,
              "%.1f,%.1f ",
              LEFT + PLOT_WIDTH * ((point.timeMs() - first) / (double) spanMs),
              TOP + PLOT_HEIGHT * (1 - line.of().applyAsLong(point.bytes()) / (double) highest)));
    }
    return svg.append("\"/>").toString();
  }

  private static String legend() {
    StringBuilder html = new StringBuilder("<div>");
    for (Line line : ALL) {
      html.append(
          String.format(
              Locale.ROOT,
              "<span style=\"margin-right:2em\"><svg width=\"26\" height=\"10\"><line x1=\"0\""
                  + " x2=\"26\" y1=\"5\" y2=\"5\" stroke-width=\"3\" stroke=\"%s\""
                  + " stroke-dasharray=\"%s\"/></svg> %s</span>",
              line.colour(),
              line.dashes(),
              Html.escape(line.name())));
    }
    return html.append("</div>").toString();
  }

  private static String time(long ms) {
    if (ms < 120_000) {
      return String.format(Locale.ROOT, "%.1f s", ms / 1_000.0);
    }
    if (ms < 7_200_000) {
      return String.format(Locale.ROOT, "%.1f min", ms / 60_000.0);
    }
    return String.format(Locale.ROOT, "%.1f h", ms / 3_600_000.0);
  }
}
