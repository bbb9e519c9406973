// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.chart;

import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;
import org.sparkrdma.benchmarks.jobs.MeasuredRatio;
import org.sparkrdma.launch.Quartiles;

/**
 * One metric of some reports as a picture: a row for each ratio, with a dot at its median and a
 * line from quartile to quartile, on an axis around 1.
 *
 * <p>Written by the JDK's own XML writer: error bars of chart libraries are symmetric, which
 * quartiles are not, and their layout depends on the fonts of the machine. So the same reports give
 * the same bytes everywhere, and neither a display nor fonts are needed.
 *
 * @param reports names of the files
 * @param oneMachine whether all of them were measured on one machine
 * @param bars at least one, of one metric
 */
record RatioChart(List<String> reports, boolean oneMachine, List<Bar> bars) {
  /** Begins the part of the description that names the reports. */
  static final String REPORTS = "Drawn from ";

  private static final int WIDTH = 870;
  private static final int PLOT_X = 340;
  private static final int PLOT_WIDTH = 380;
  private static final int TOP = 64;
  private static final int ROW = 22;
  private static final int BOTTOM = 34;
  private static final int GAP = 8;
  private static final int TEXT_BELOW = 4;
  private static final int LABEL_BELOW = 18;
  private static final int MAX_TICKS = 8;

  /** The axis has at least these ends, so that a difference looks as large as it is. */
  private static final double LOW = 0.8;

  private static final double HIGH = 1.2;
  private static final List<Double> STEPS = List.of(0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0);
  private static final String LEGEND = "Dot: median of the rounds; line: from quartile to quartile";

  private static final String ONE_MACHINE = "One machine, no network. ";

  /** Classes of the style, which follows the reader's light or dark mode. */
  private static final String STYLE =
      """

      text, .ink { fill: #24292f; stroke: none } line { stroke: #24292f }
      .grid { stroke: #d0d7de } .work { fill: #afb8c1 } .transfer { fill: #0969da } .waiting { fill: #bc4c00 } .plug-in { fill: #0969da; stroke: #0969da }
      @media (prefers-color-scheme: dark) {
        text, .ink { fill: #e6edf3 } line { stroke: #e6edf3 }
        .grid { stroke: #3d444d } .work { fill: #57606a } .transfer { fill: #58a6ff } .waiting { fill: #f0883e } .plug-in { fill: #58a6ff; stroke: #58a6ff }
      }
      """;

  private static final Map<String, String> SHUFFLES =
      Map.of(
          "vanilla", "Spark",
          "netty", "Spark",
          "control", "Spark once more",
          "tuned", "Spark, tuned",
          "rdma", "the plug-in",
          "fallback", "the plug-in without a device");

  private static final Map<String, String> JOBS =
      Map.of("pagerank", "PageRank", "terasort", "TeraSort", "tpch", "TPC-H", "tpcds", "TPC-DS");

  /** Job, shape and the rest; the shape of groupby ends with the length of a block. */
  private static final Pattern SHAPE = Pattern.compile("([a-z]+) ([^ ,]+)(,.*|)");

  /** One ratio and its values. */
  record Bar(MeasuredRatio ratio, Quartiles value) {
    /** The shuffle or client that is compared. */
    private String name() {
      return ratio.ratio().split(" / ", 2)[0];
    }

    private String text() {
      return value.format(2);
    }

    /** What the row shows, in words that need no manual. */
    private String label() {
      return RatioChart.label(ratio.shape(), name());
    }
  }

  /** The row of a job, or of blocks of a length, with one shuffle. */
  static String label(String jobAndShape, String mode) {
    String shuffle = SHUFFLES.getOrDefault(mode, mode);
    Matcher shape = SHAPE.matcher(jobAndShape);
    if (!shape.matches()) {
      return jobAndShape + ": " + shuffle;
    }
    String job = JOBS.getOrDefault(shape.group(1), shape.group(1));
    String part = shape.group(2).replaceFirst(".*x", "");
    String what = job.equals("groupby") ? ", blocks of " + part : "";
    what = part.contains("+") ? ", %d queries".formatted(part.split("[+]").length) : what;
    return "%s%s%s: %s".formatted(job, what, shape.group(3), shuffle);
  }

  private String title() {
    MeasuredRatio first = bars.get(0).ratio();
    String base = first.ratio().split(" / ", 2)[1];
    String metric = first.metric().equals("wall") ? "wall time" : first.metric();
    return "%s, as a multiple of that with %s: %s is better"
        .formatted(
            metric.substring(0, 1).toUpperCase(Locale.ROOT) + metric.substring(1),
            SHUFFLES.getOrDefault(base, base) + " alone",
            first.lessIsBetter() ? "less" : "more");
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
    String legend = (oneMachine ? ONE_MACHINE : "") + LEGEND;
    XMLStreamWriter out = begin(text, bars.size(), title(), description(), reports, legend);
    double low = bars.stream().mapToDouble(bar -> bar.value().lower()).min().orElse(LOW);
    double high = bars.stream().mapToDouble(bar -> bar.value().upper()).max().orElse(HIGH);
    Axis axis = Axis.of(Math.min(LOW, low), Math.max(HIGH, high));
    drawAxis(out, axis, TOP + ROW * bars.size());
    for (int i = 0; i < bars.size(); i++) {
      draw(out, bars.get(i), axis, y(i));
    }
    out.writeEndElement();
    out.close();
    return text + "\n";
  }

  /** Begins a picture with this number of rows; its element is open. */
  static XMLStreamWriter begin(
      StringWriter text,
      int rows,
      String title,
      String description,
      List<String> reports,
      String legend)
      throws XMLStreamException {
    XMLStreamWriter out = XMLOutputFactory.newDefaultFactory().createXMLStreamWriter(text);
    out.writeStartElement("svg");
    out.writeDefaultNamespace("http://www.w3.org/2000/svg");
    out.writeAttribute("viewBox", "0 0 %d %d".formatted(WIDTH, TOP + ROW * rows + BOTTOM));
    attributes(out, "role=img font-family=sans-serif font-size=13");
    element(out, "title", title, "");
    element(out, "desc", description + ". " + REPORTS + String.join(", ", reports) + ".", "");
    element(out, "style", STYLE, "");
    element(out, "text", title, "x=16 y=24 font-size=16 font-weight=bold");
    element(out, "text", legend, "x=16 y=44");
    return out;
  }

  /** The middle of a row. */
  static int y(int row) {
    return TOP + ROW * row + ROW / 2;
  }

  /** Writes what a row shows, left of its plot. */
  static void rowLabel(XMLStreamWriter out, String label, int plotX, int y)
      throws XMLStreamException {
    String place = format("x=%d y=%d text-anchor=end", plotX - GAP, y + TEXT_BELOW);
    element(out, "text", label, place);
  }

  /** Writes the numbers of a row, right of what it draws. */
  static void rowText(XMLStreamWriter out, String text, double x, int y) throws XMLStreamException {
    element(out, "text", text, format("x=%.0f y=%d", x + GAP, y + TEXT_BELOW));
  }

  /** Values from left to right, both ends multiples of the step. */
  private record Axis(long first, long last, double step) {
    static Axis of(double low, double high) {
      double step =
          STEPS.stream()
              .filter(each -> (high - low) / each <= MAX_TICKS)
              .findFirst()
              .orElse(Math.ceil((high - low) / MAX_TICKS));
      // Not the step before for a value that is a multiple but for its last digit.
      long first = (long) Math.floor(low / step + 1e-9);
      return new Axis(first, (long) Math.ceil(high / step - 1e-9), step);
    }

    double x(double value) {
      return PLOT_X + (value / step - first) * PLOT_WIDTH / (last - first);
    }
  }

  private static void drawAxis(XMLStreamWriter out, Axis axis, int bottom)
      throws XMLStreamException {
    for (long i = axis.first(); i <= axis.last(); i++) {
      double x = axis.x(i * axis.step());
      line(out, x, TOP, x, bottom, "class=grid");
      String label = format(axis.step() < 1 ? "%.1f" : "%.0f", i * axis.step());
      String place = format("x=%.1f y=%d text-anchor=middle", x, bottom + LABEL_BELOW);
      element(out, "text", label, place);
    }
    line(out, axis.x(1), TOP, axis.x(1), bottom, "");
  }

  private static void draw(XMLStreamWriter out, Bar bar, Axis axis, int y)
      throws XMLStreamException {
    rowLabel(out, bar.label(), PLOT_X, y);
    String color = bar.name().equals("rdma") ? "class=plug-in" : "class=ink";
    double lower = axis.x(bar.value().lower());
    double upper = axis.x(bar.value().upper());
    line(out, lower, y, upper, y, bar.name().equals("rdma") ? color + " stroke-width=2" : "");
    String place = format("cx=%.1f cy=%d r=%d", axis.x(bar.value().median()), y, TEXT_BELOW);
    element(out, "circle", "", place + " " + color);
    rowText(out, bar.text(), PLOT_X + PLOT_WIDTH, y);
  }

  private static void line(
      XMLStreamWriter out, double x1, double y1, double x2, double y2, String more)
      throws XMLStreamException {
    String ends = format("x1=%.1f y1=%.1f x2=%.1f y2=%.1f", x1, y1, x2, y2);
    element(out, "line", "", (ends + " " + more).strip());
  }

  static String format(String pattern, Object... values) {
    return String.format(Locale.ROOT, pattern, values);
  }

  static void element(XMLStreamWriter out, String name, String text, String attributes)
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
