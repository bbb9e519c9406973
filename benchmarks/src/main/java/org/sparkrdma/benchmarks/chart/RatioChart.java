// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.chart;

import java.io.StringWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;
import org.sparkrdma.benchmarks.jobs.MeasuredRatio;
import org.sparkrdma.launch.Quartiles;

/**
 * One metric of some reports as a picture: a bar for each ratio, as long as its median, with a line
 * from quartile to quartile.
 *
 * <p>Written by the JDK's own XML writer: error bars of chart libraries are symmetric, which
 * quartiles are not, and their layout depends on the fonts of the machine. So the same reports give
 * the same bytes everywhere, and neither a display nor fonts are needed.
 *
 * @param reports names of the files
 * @param bars at least one, of one metric
 */
record RatioChart(List<String> reports, List<Bar> bars) {
  /** Begins the part of the description that names the reports. */
  static final String REPORTS = "Drawn from ";

  private static final int WIDTH = 870;
  private static final int PLOT_X = 320;
  private static final int PLOT_WIDTH = 400;
  private static final int TOP = 64;
  private static final int ROW = 26;
  private static final int BAR = 16;
  private static final int BOTTOM = 34;
  private static final int GAP = 8;
  private static final int TEXT_BELOW = 4;
  private static final int LABEL_BELOW = 18;
  private static final int MAX_TICKS = 8;
  private static final double MARGIN = 1.05;
  private static final List<Double> STEPS = List.of(0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0);
  private static final String LEGEND =
      "bar: median of the rounds; line: from the lower to the upper quartile";
  private static final String INK = "#24292f";
  private static final String GRID = "#d0d7de";
  private static final String PLUG_IN = "#0969da";
  private static final String OTHER = "#8c959f";

  /** One ratio and its values. */
  record Bar(MeasuredRatio ratio, Quartiles value) {
    /** The shuffle or client that is compared. */
    private String name() {
      return ratio.ratio().split(" / ", 2)[0];
    }

    private String text() {
      return value.format(2);
    }
  }

  private String title() {
    MeasuredRatio first = bars.get(0).ratio();
    String base = first.ratio().split(" / ", 2)[1];
    return "%s as a multiple of %s, %s is better"
        .formatted(first.metric(), base, first.lessIsBetter() ? "less" : "more");
  }

  /** What the picture shows, with all numbers, for readers who do not see it. */
  String description() {
    Map<String, String> numbers =
        bars.stream()
            .collect(
                Collectors.groupingBy(
                    bar -> bar.ratio().shape(),
                    LinkedHashMap::new,
                    Collectors.mapping(
                        bar -> bar.name() + " " + bar.text(), Collectors.joining(", "))));
    return numbers.entrySet().stream()
        .map(shape -> shape.getKey() + ": " + shape.getValue())
        .collect(Collectors.joining("; ", title() + ", median (quartiles): ", ""));
  }

  /** The picture as SVG. */
  String svg() throws XMLStreamException {
    StringWriter text = new StringWriter();
    XMLStreamWriter out = XMLOutputFactory.newDefaultFactory().createXMLStreamWriter(text);
    int height = TOP + ROW * bars.size() + BOTTOM;
    out.writeStartElement("svg");
    out.writeDefaultNamespace("http://www.w3.org/2000/svg");
    out.writeAttribute("viewBox", "0 0 %d %d".formatted(WIDTH, height));
    attributes(out, "role=img font-family=sans-serif font-size=13 fill=" + INK);
    element(out, "title", title(), "");
    element(out, "desc", description() + ". " + REPORTS + String.join(", ", reports) + ".", "");
    element(out, "rect", "", "width=%d height=%d fill=white".formatted(WIDTH, height));
    element(out, "text", title(), "x=16 y=24 font-size=16 font-weight=bold");
    element(out, "text", LEGEND, "x=16 y=44");
    double highest =
        MARGIN * Math.max(1, bars.stream().mapToDouble(bar -> bar.value().upper()).max().orElse(1));
    drawAxis(out, highest, height - BOTTOM);
    for (int i = 0; i < bars.size(); i++) {
      draw(out, bars.get(i), PLOT_WIDTH / highest, TOP + ROW * i + ROW / 2);
    }
    out.writeEndElement();
    out.close();
    return text + "\n";
  }

  private static void drawAxis(XMLStreamWriter out, double highest, int bottom)
      throws XMLStreamException {
    double step =
        STEPS.stream()
            .filter(each -> highest / each <= MAX_TICKS)
            .findFirst()
            .orElse(Math.ceil(highest / MAX_TICKS));
    List<Double> ticks = new ArrayList<>(List.of(1.0));
    for (int i = 0; i * step <= highest; i++) {
      ticks.add(i * step);
    }
    for (double tick : ticks.stream().distinct().sorted().toList()) {
      double x = PLOT_X + tick * PLOT_WIDTH / highest;
      line(out, x, TOP, x, bottom, tick == 1 ? INK : GRID);
      String label = format(tick == Math.rint(tick) ? "%.0f" : "%.2f", tick);
      String place = format("x=%.1f y=%d text-anchor=middle", x, bottom + LABEL_BELOW);
      element(out, "text", label, place);
    }
  }

  private static void draw(XMLStreamWriter out, Bar bar, double scale, int y)
      throws XMLStreamException {
    int textY = y + TEXT_BELOW;
    String label = bar.ratio().shape() + ", " + bar.name();
    element(out, "text", label, format("x=%d y=%d text-anchor=end", PLOT_X - GAP, textY));
    String color = bar.name().equals("rdma") ? PLUG_IN : OTHER;
    double length = bar.value().median() * scale;
    String place = format("x=%d y=%d width=%.1f height=%d", PLOT_X, y - BAR / 2, length, BAR);
    element(out, "rect", "", place + " fill=" + color);
    double lower = PLOT_X + bar.value().lower() * scale;
    double upper = PLOT_X + bar.value().upper() * scale;
    line(out, lower, y, upper, y, INK);
    line(out, lower, y - TEXT_BELOW, lower, textY, INK);
    line(out, upper, y - TEXT_BELOW, upper, textY, INK);
    element(out, "text", bar.text(), format("x=%d y=%d", PLOT_X + PLOT_WIDTH + GAP, textY));
  }

  private static void line(
      XMLStreamWriter out, double x1, double y1, double x2, double y2, String color)
      throws XMLStreamException {
    String ends = format("x1=%.1f y1=%.1f x2=%.1f y2=%.1f", x1, y1, x2, y2);
    element(out, "line", "", ends + " stroke=" + color);
  }

  private static String format(String pattern, Object... values) {
    return String.format(Locale.ROOT, pattern, values);
  }

  private static void element(XMLStreamWriter out, String name, String text, String attributes)
      throws XMLStreamException {
    out.writeCharacters("\n");
    out.writeStartElement(name);
    attributes(out, attributes);
    out.writeCharacters(text);
    out.writeEndElement();
  }

  /**
   * @param list as in {@code x=1 y=2}
   */
  private static void attributes(XMLStreamWriter out, String list) throws XMLStreamException {
    for (String one : list.isEmpty() ? new String[0] : list.split(" ", -1)) {
      String[] parts = one.split("=", 2);
      out.writeAttribute(parts[0], parts[1]);
    }
  }
}
