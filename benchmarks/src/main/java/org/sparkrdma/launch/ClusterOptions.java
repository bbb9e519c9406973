/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.launch;

import java.nio.file.Path;
import picocli.CommandLine.Option;

/**
 * The options that all scripts with a cluster have, for picocli's Mixin; what they mean stands in
 * the scripts' help. Used by the main thread.
 */
public final class ClusterOptions {
  @Option(names = "--report")
  private Path reportFile;

  @Option(names = "--work-dir", required = true)
  private Path workDirectory;

  @Option(names = "--keep")
  private boolean keep;

  @Option(names = "--project", hidden = true, required = true)
  private Path project;

  @Option(names = "--terminal", hidden = true)
  private boolean terminal;

  /** Where the report goes; null for none. */
  public Path reportFile() {
    return reportFile;
  }

  /** Whether data and logs stay. */
  public boolean keep() {
    return keep;
  }

  /** What the script's project has built. */
  public Installation installation() {
    return new Installation(project);
  }

  /** Progress on standard output. */
  public ProgressLog progress() {
    return new ProgressLog(System.out, terminal, System::nanoTime);
  }

  /**
   * The command that the options are of.
   *
   * @param name of the script, as its messages begin
   */
  public ClusterCommand command(String name, Installation installation, ProgressLog progress) {
    return new ClusterCommand(name, installation, workDirectory, keep, progress);
  }
}
