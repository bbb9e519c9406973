// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import org.sparkrdma.launch.ReportFile;

/**
 * The files of one report: JSON with the name that the user gave, CSV and HTML beside it.
 *
 * @param json the JSON file; its name must not end in .csv or .html
 */
public record BenchmarkFiles(Path json) {
  /** The reason why the files of a report cannot be written, in one sentence. */
  public static Optional<String> objection(Path json) {
    String name = json.getFileName() == null ? "" : json.getFileName().toString();
    if (name.toLowerCase(Locale.ROOT).matches(".*\\.(html|csv)")) {
      return Optional.of(
          "--report names the JSON file, the page and the CSV file are written beside it: give "
              + name.replaceAll("\\.[a-zA-Z]+$", ".json"));
    }
    return new ReportFile(json).objection();
  }

  /** Writes all files. Returns the reason why one was not written. */
  public Optional<String> write(BenchmarkReport report) {
    return new ReportFile(json).write(report).or(() -> writeBeside(report));
  }

  /** Writes the CSV file and the page. */
  public Optional<String> writeBeside(BenchmarkReport report) {
    return writeBeside(BenchmarkCsv.of(report), BenchmarkPage.of(report));
  }

  /** The same of a report of another kind. */
  public Optional<String> writeBeside(String csv, String page) {
    return new ReportFile(beside(".csv"))
        .writeText(csv)
        .or(() -> new ReportFile(html()).writeText(page));
  }

  /** Writes the JSON file of a report of another kind. */
  public Optional<String> writeJson(Object report) {
    return new ReportFile(json).write(report);
  }

  /** The page. */
  public Path html() {
    return beside(".html");
  }

  private Path beside(String ending) {
    String name = json.getFileName().toString();
    int dot = name.lastIndexOf('.');
    return json.resolveSibling((dot < 1 ? name : name.substring(0, dot)) + ending);
  }
}
