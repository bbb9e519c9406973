// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import org.sparkrdma.cluster.LaunchException;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of commands that start a cluster, and the end of their runs: table and report. */
public final class ClusterOptions extends LaunchOptions {
  @Mixin private LaunchOptions.Report report;

  @Option(names = "--keep")
  private boolean keep;

  /** Whether data and logs are kept. */
  boolean keep() {
    return keep;
  }

  /** The option of the report. */
  public LaunchOptions.Report report() {
    return report;
  }

  /** Refuses a report that cannot be written. Call it before anything is started. */
  public void check() {
    report.check();
  }

  /**
   * The command with these options.
   *
   * @param name name of the script, at the start of its messages
   */
  public ClusterCommand command(String name) {
    return new ClusterCommand(name, this);
  }

  /**
   * Prints the table, then writes the report file, if there is one.
   *
   * @throws LaunchException with the reason why the report was not written
   */
  public void publish(String table, Object results) throws LaunchException {
    System.out.println();
    System.out.println(table);
    report.write(results);
  }
}
