// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.io.IOException;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The options of commands that start a cluster, and the end of their runs: table and report. */
public final class ClusterOptions extends LaunchOptions {
  @Mixin private ReportOption report;

  @Option(names = "--keep")
  private boolean keep;

  /** Whether data and logs are kept. */
  public boolean keep() {
    return keep;
  }

  /** The option of the report. */
  public ReportOption report() {
    return report;
  }

  /**
   * Checks the options. Call it before anything is started.
   *
   * @throws ParameterException when the report cannot be written
   */
  public void check() throws IOException {
    report.check();
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
  public void publish(String table, Object results, Optional<String> objection)
      throws LaunchException {
    System.out.println();
    System.out.println(table);
    String failures =
        Stream.of(objection, report.tryWrite(results))
            .flatMap(Optional::stream)
            .collect(Collectors.joining("; "));
    if (!failures.isEmpty()) {
      throw new LaunchException(failures);
    }
  }
}
