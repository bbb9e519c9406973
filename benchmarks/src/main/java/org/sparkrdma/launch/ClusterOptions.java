// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of commands that start a cluster, and the end of their runs: table and report. */
public final class ClusterOptions extends LaunchOptions {
  @Option(names = "--report")
  private Path reportFile;

  @Option(names = "--keep")
  private boolean keep;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /** Whether data and logs stay. */
  public boolean keep() {
    return keep;
  }

  /**
   * Writes the report to this file when the user names none; to be called before {@link #check}.
   */
  public void setDefaultReport(Path file) {
    if (reportFile == null) {
      reportFile = file;
    }
  }

  /** Where the report is to be written, if the user wants one. */
  public Optional<Path> reportFile() {
    return Optional.ofNullable(reportFile);
  }

  /**
   * Checks the options; to be called before anything is started.
   *
   * @throws ParameterException when the report cannot be written
   */
  public void check() throws IOException {
    if (reportFile == null) {
      return;
    }
    ReportFile report = new ReportFile(reportFile);
    Optional<String> objection = report.objection();
    if (objection.isPresent()) {
      throw new ParameterException(command.commandLine(), objection.get());
    }
    if (!checkOnly()) {
      // A report that exists after the run is of this run.
      report.deleteEarlier();
    }
  }

  /**
   * The command that the options are of.
   *
   * @param name of the script, as its messages begin
   */
  public ClusterCommand command(String name, Installation installation, ProgressLog progress) {
    return new ClusterCommand(name, installation, workDirectory(), keep, progress);
  }

  /**
   * Prints the table, then writes the report, if there is to be one.
   *
   * @param objection why the run failed in spite of its results; empty if it did not
   * @throws LaunchException with the objection, the reason why the report was not written, or both
   */
  public void publish(String table, Object report, Optional<String> objection)
      throws LaunchException {
    System.out.println();
    System.out.println(table);
    Optional<String> notWritten =
        Optional.ofNullable(reportFile).flatMap(file -> new ReportFile(file).write(report));
    String failures =
        Stream.of(objection, notWritten)
            .flatMap(Optional::stream)
            .collect(Collectors.joining("; "));
    if (!failures.isEmpty()) {
      throw new LaunchException(failures);
    }
  }
}
