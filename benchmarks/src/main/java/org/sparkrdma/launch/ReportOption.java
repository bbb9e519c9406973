// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The option {@code --report FILE}. Confined to the thread of the command. */
public final class ReportOption {
  @Option(names = "--report", paramLabel = "FILE")
  private Path file;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /** Sets the file for users who name none. Call it before {@link #check()}. */
  public void setDefault(Path path) {
    if (file == null) {
      file = path;
    }
  }

  /**
   * Checks that the file can be written, and deletes the report of an earlier run. Call it before
   * anything is measured.
   *
   * @throws ParameterException when it cannot
   */
  public void check() {
    if (file == null) {
      return;
    }
    if (Files.isDirectory(file)) {
      throw new ParameterException(command.commandLine(), "--report names a directory: " + file);
    }
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND).close();
      Files.delete(file);
    } catch (IOException e) {
      throw new ParameterException(
          command.commandLine(),
          "--report is '%s': give a file that can be written".formatted(file));
    }
  }

  /**
   * Writes the report as JSON, if there is a file.
   *
   * @throws LaunchException with the reason why it was not written
   */
  public void write(Object report) throws LaunchException {
    if (file == null) {
      return;
    }
    try {
      new ObjectMapper().writerWithDefaultPrettyPrinter().writeValue(file.toFile(), report);
    } catch (IOException e) {
      throw new LaunchException(
          "the report was not written: " + e.getClass().getSimpleName() + " " + e.getMessage());
    }
  }
}
