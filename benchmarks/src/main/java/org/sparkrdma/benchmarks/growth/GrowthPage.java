// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.growth;

import java.util.List;
import org.sparkrdma.benchmarks.jobs.environment.RecordedReport;

/** The results as a page in one file, without scripts. Stateless. */
public final class GrowthPage {
  private GrowthPage() {}

  /** The whole page. */
  public static String of(RecordedReport<Growth> report) {
    Growth growth = report.results();
    StringBuilder plots = new StringBuilder();
    growth
        .exponents()
        .forEach(
            (quantity, exponents) ->
                plots.append(
                    new GrowthPlot(growth.growth(), quantity, exponents)
                        .svg(growth.lastInterval())));
    return """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Growth of one executor's cost</title>
        <style>
        body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 95rem; padding: 0 1rem; color: #1d2733; }
        h1 { font-size: 1.5rem; }
        h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid #d5dce4; }
        .plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(24rem, 100%%), 1fr)); gap: 1rem; }
        svg { border: 1px solid #d5dce4; width: 100%%; height: auto; }
        text { font-size: 11px; }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; margin: 0.8rem 0; }
        th, td { padding: 0.25rem 0.7rem; border: 1px solid #d5dce4; text-align: right; }
        td { white-space: nowrap; }
        th { background: #f1f4f7; font-weight: 600; }
        th:first-child, td:first-child { text-align: left; }
        pre { white-space: pre-wrap; }
        </style>
        </head>
        <body>
        <h1>Growth of one executor's cost with the number of executors</h1>
        <p>%s, <code>%s</code>, plug-in %s. Simulated: virtual time, default settings. Both axes of the
        plots are logarithmic. An exponent fitted to all numbers of executors shows little of a change
        at the largest ones, so that of the last interval stands beside it.</p>
        <div class="plots">
        %s</div>
        <div class="scroll" tabindex="0">
        %s</div>
        <h2>Messages that one executor sends to its peers</h2>
        <div class="scroll" tabindex="0">
        %s</div>
        <h2>Incast</h2>
        <pre>%s</pre>
        <h2>All tasks of a shuffle, in waves</h2>
        <pre>%s</pre>
        </body>
        </html>
        """
        .formatted(
            report.environment().date(),
            report.command(),
            report.environment().version(),
            plots,
            table(GrowthTable.rows(growth)),
            table(GrowthTable.messages(growth)),
            GrowthTable.incast(growth),
            GrowthTable.waves(growth));
  }

  private static String table(List<List<String>> rows) {
    StringBuilder table = new StringBuilder("<table>\n");
    for (int i = 0; i < rows.size(); i++) {
      String tag = i == 0 ? "th" : "td";
      table.append("<tr>");
      rows.get(i).forEach(cell -> table.append("<%s>%s</%s>".formatted(tag, cell, tag)));
      table.append("</tr>\n");
    }
    return table.append("</table>\n").toString();
  }
}
