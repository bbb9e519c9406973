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

  /** Whether data and logs are kept. */
  public boolean keep() {
    return keep;
  }

  /** Sets the report file for users who name none. Call it before {@link #check}. */
  public void setDefaultReport(Path file) {
    if (reportFile == null) {
      reportFile = file;
    }
  }

  /** The file of the report, if there is one. */
  public Optional<Path> reportFile() {
    return Optional.ofNullable(reportFile);
  }

  /**
   * Checks the options. Call it before anything is started.
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
      // A report that exists after the run belongs to this run.
      report.deleteEarlier();
    }
  }

  /**
   * The command with these options.
   *
   * @param name name of the script, at the start of its messages
   */
  public ClusterCommand command(String name, Installation installation, ProgressLog progress) {
    return new ClusterCommand(name, installation, workDirectory(), keep, progress);
  }

  /**
   * Prints the table, then writes the report file, if there is one.
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
