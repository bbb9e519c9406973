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

/** The options that the scripts give to every command. Confined to the thread of the command. */
public class LaunchOptions {
  @Option(names = "--work-dir", required = true)
  private Path workDirectory;

  @Option(names = "--project", hidden = true, required = true)
  private Path project;

  @Option(names = "--terminal", hidden = true)
  private boolean terminal;

  @Option(names = "--check-only", hidden = true)
  private boolean checkOnly;

  /** Whether the command ends once it has checked its options, as before a build. */
  public final boolean checkOnly() {
    return checkOnly;
  }

  /** Directory for data and logs. */
  public final Path workDirectory() {
    return workDirectory;
  }

  /** What the script's project has built. */
  public final Installation installation() {
    return new Installation(project);
  }

  /** Progress on standard output. */
  public final ProgressLog progress() {
    return new ProgressLog(System.out, terminal, System::nanoTime);
  }
}
