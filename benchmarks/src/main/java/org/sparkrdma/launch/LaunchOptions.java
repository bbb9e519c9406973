// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The options that the scripts give to every command. Confined to the thread of the command. */
public class LaunchOptions {
  @Option(names = "--work-dir", required = true)
  private Path workDirectory;

  @Option(names = "--project", hidden = true, required = true)
  private Path project;

  /** Directory for data and logs. */
  public final Path workDirectory() {
    return workDirectory;
  }

  /** The build's results in the script's project. */
  public final Installation installation() {
    return new Installation(project);
  }

  /** Progress on standard output. */
  public final ProgressLog progress() {
    return new ProgressLog(System.out, System::nanoTime);
  }
}
