// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.sparkrdma.launch.Quartiles;

/** A page in one file, with style, plots and data. Confined to one thread. */
final class HtmlPage {
  private final String title;
  private final StringBuilder body = new StringBuilder();
  private final List<Map<String, Object>> charts = new ArrayList<>();

  HtmlPage(String title) {
    this.title = title;
    body.append("<h1>").append(escape(title)).append("</h1>\n");
  }

  /**
   * One bar of a chart.
   *
   * @param rounds the values behind it; may be empty
   */
  record Bar(String label, Quartiles value, List<Double> rounds) {}

  void heading(String text) {
    body.append("<h2>").append(escape(text)).append("</h2>\n");
  }

  void paragraph(String text) {
    body.append("<p>").append(escape(text)).append("</p>\n");
  }

  /**
   * @param rows the headings first
   */
  void table(List<List<String>> rows) {
    table("<table>", rows);
  }

  /** A table without numbers to compare, aligned on the left. */
  void textTable(List<List<String>> rows) {
    table("<table class=\"text\">", rows);
  }

  /** Scrolls in a frame of its own where it is wider than the window. */
  private void table(String begin, List<List<String>> rows) {
    body.append("<div class=\"scroll\" tabindex=\"0\">\n").append(begin).append('\n');
    for (int i = 0; i < rows.size(); i++) {
      String tag = i == 0 ? "th" : "td";
      body.append("<tr>");
      rows.get(i).forEach(cell -> body.append("<%s>%s</%s>".formatted(tag, escape(cell), tag)));
      body.append("</tr>\n");
    }
    body.append("</table>\n</div>\n");
  }

  /** Opens a row of charts, each of which is drawn by the script at the end of the page. */
  void beginCharts() {
    body.append("<div class=\"charts\">\n");
  }

  void chart(String chartTitle, String unit, List<Bar> bars) {
    String id = "chart" + charts.size();
    body.append("<div class=\"chart\"><canvas id=\"%s\"></canvas></div>%n".formatted(id));
    Map<String, Object> chart = new LinkedHashMap<>();
    chart.put("id", id);
    chart.put("title", chartTitle);
    chart.put("unit", unit);
    chart.put("labels", bars.stream().map(Bar::label).toList());
    chart.put("medians", bars.stream().map(bar -> bar.value().median()).toList());
    chart.put(
        "quartiles",
        bars.stream().map(bar -> List.of(bar.value().lower(), bar.value().upper())).toList());
    chart.put("rounds", bars.stream().map(Bar::rounds).toList());
    charts.add(chart);
  }

  void endCharts() {
    body.append("</div>\n");
  }

  /** The whole page. */
  String render() {
    return """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>%s</title>
        <style>
        %s</style>
        </head>
        <body>
        %s<script>
        %s
        </script>
        <script>
        const charts = %s;
        %s</script>
        </body>
        </html>
        """
        .formatted(
            escape(title),
            resource("page.css"),
            body,
            resource("chart.umd.js"),
            json(),
            resource("page.js"));
  }

  /** Escaped, so that no text ends the script. */
  private String json() {
    try {
      return new ObjectMapper().writeValueAsString(charts).replace("<", "\\u003c");
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("charts cannot be written as JSON", e);
    }
  }

  private static String resource(String name) {
    try (InputStream in = HtmlPage.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("missing in the jar: " + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
