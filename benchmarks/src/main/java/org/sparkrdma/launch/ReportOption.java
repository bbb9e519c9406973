// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The option {@code --report FILE}. Confined to the thread of the command. */
public final class ReportOption {
  // A script prints its own help; spark-submit's class prints this description.
  @Option(
      names = "--report",
      paramLabel = "FILE",
      description = "Write the results as JSON to FILE.")
  private Path file;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /** Sets the file for users who name none. Call it before {@link #check()}. */
  public void setDefault(Path path) {
    if (file == null) {
      file = path;
    }
  }

  /** The file of the report, if there is one. */
  public Optional<Path> file() {
    return Optional.ofNullable(file);
  }

  /**
   * Checks that the file can be written. Call it before anything is measured.
   *
   * @throws ParameterException when it cannot
   */
  public void check() {
    Optional<String> reason = file().flatMap(path -> new ReportFile(path).objection());
    if (reason.isPresent()) {
      throw new ParameterException(command.commandLine(), reason.get());
    }
  }

  /** Deletes the report of an earlier run, if there is one. */
  void deleteEarlier() throws IOException {
    if (file != null) {
      new ReportFile(file).deleteEarlier();
    }
  }

  /**
   * Writes the report as JSON, if there is a file.
   *
   * @throws LaunchException with the reason why it was not written
   */
  public void write(Object report) throws LaunchException {
    Optional<String> reason = tryWrite(report);
    if (reason.isPresent()) {
      throw new LaunchException(reason.get());
    }
  }

  /** The same; returns the reason why the report was not written. */
  Optional<String> tryWrite(Object report) {
    return file().flatMap(path -> new ReportFile(path).write(report));
  }
}
