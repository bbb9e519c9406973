// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.ReportFile;

/**
 * {@code docs/compatibility.md}: the versions of Spark, Scala and Java that were run. It is made
 * from {@code docs/compatibility.json}, the report of that run. Stateless.
 */
final class CompatibilityPage {
  private CompatibilityPage() {}

  /**
   * Writes the page and the report beside it, unless a cell failed.
   *
   * @return a sentence for the log
   */
  static String update(Path file, MatrixReport report) throws IOException {
    long failed = report.cells().stream().filter(cell -> !cell.hasPassed()).count();
    if (failed > 0) {
      return "did not write %s, because %d of %d cells failed"
          .formatted(file, failed, report.cells().size());
    }
    Path json = reportOf(file);
    Optional<String> objection = new ReportFile(json).write(report);
    if (objection.isPresent()) {
      return objection.get();
    }
    Files.writeString(file, text(report));
    return "wrote %s and %s".formatted(file, json);
  }

  /** The report from which a page was made. */
  static Path reportOf(Path page) {
    return page.resolveSibling(page.getFileName().toString().replace(".md", ".json"));
  }

  static String text(MatrixReport report) {
    StringBuilder page = new StringBuilder();
    page.append(
        """
        # Spark, Scala and Java versions

        `./matrix` writes this page from [its report](compatibility.json); `CompatibilityPageTest` compares the
        two. One jar serves all versions.

        ## How to load the plug-in

        | Spark | settings |
        |---|---|
        | 4.0, 4.1, 4.2 | `--jars shuffle-plugin.jar` and `spark.shuffle.manager`; nothing on the nodes |
        | 3.5 | the jar at the same path on every node, that path in `spark.driver.extraClassPath` and `spark.executor.extraClassPath`, and `spark.shuffle.manager` |

        Executors of Spark 3.5 create the shuffle manager before they fetch the application's jars, so
        `--jars` and `spark.jars` do not work there
        ([SPARK-45762](https://issues.apache.org/jira/browse/SPARK-45762)). The driver then stops with one
        sentence that names both keys. Both forms are in
        [conf/spark-defaults.conf.template](../conf/spark-defaults.conf.template).

        ## What ran

        """);
    MatrixRun run = report.run();
    page.append(
        "On %s, commit %s, %s, `./matrix`.\n".formatted(run.date(), run.commit(), run.system()));
    page.append(
        """
        Each row is a standalone cluster with two workers on one host. TeraSort and a SQL query with a
        join and aggregations run once with Spark's own shuffle and once with the plug-in on the `soft`
        engine. The answer is right when all rows of the query and all bytes of the sorted records are
        equal.

        The two columns of the [tab "RDMA shuffle"](ui.md) are the bytes by READ that it shows: in the
        UI of the running application, and in a History Server of the same version, with the jar on its
        class path, that has replayed the event log without an ERROR. They are the bytes that the
        executors have counted. A History Server without the jar shows all jobs too and logs one WARN.
        Spark 3.5 has no tab; there neither the driver nor a History Server, with or without the jar,
        logs an ERROR or an unknown event.

        | Spark | Scala | Java | answer | read by RDMA READ | read by TCP | tab | tab in History Server |
        |---|---|---|---|---|---|---|---|
        """);
    for (CellResult cell : report.cells()) {
      page.append(
          "| %s | %s | %s | %s | %s | %s | %s | %s |\n"
              .formatted(
                  cell.spark(),
                  cell.scala(),
                  cell.javaVersion() == null ? cell.java() : cell.javaVersion(),
                  cell.hasPassed() ? "right" : "**" + cell.problem().replace('|', '/') + "**",
                  new DataSize(cell.bytesByRead()),
                  new DataSize(cell.bytesByTcp()),
                  size(cell.tabBytesByRead()),
                  size(cell.historyBytesByRead())));
    }
    page.append(
        """

        ## What did not run

        | Spark | Scala | Java | reason |
        |---|---|---|---|
        """);
    for (CellSelection.NotRun cell : report.notRun()) {
      page.append(
          "| %s | %s | %s | not run: %s |\n"
              .formatted(cell.spark(), cell.scala(), cell.java(), cell.reason()));
    }
    return page.toString();
  }

  /** Bytes that a tab shows. */
  static String size(Long bytes) {
    return bytes == null ? "none" : new DataSize(bytes).toString();
  }
}
