// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/** The file of {@code --report FILE}. */
public record ReportFile(Path path) {
  /**
   * The reason why the file cannot be written, as one sentence; does not change an existing file.
   */
  public Optional<String> objection() {
    return objection("--report");
  }

  /** The same for a file that another option names. */
  public Optional<String> objection(String option) {
    if (Files.isDirectory(path)) {
      return Optional.of(option + " names a directory: " + path);
    }
    boolean existed = Files.exists(path);
    try {
      createDirectories();
      Files.newOutputStream(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND).close();
      if (!existed) {
        Files.delete(path);
      }
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of("%s is '%s': give a file that can be written".formatted(option, path));
    }
  }

  /** Deletes the report of an earlier run. */
  public void deleteEarlier() throws IOException {
    Files.deleteIfExists(path);
  }

  /**
   * Writes the report as JSON, and creates the file's directory if it does not exist.
   *
   * @return the reason why the file was not written, as one sentence; empty if it was
   */
  public Optional<String> write(Object report) {
    try {
      return writeText(
          new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(report));
    } catch (JsonProcessingException e) {
      return Optional.of("the report was not written: " + reason(e));
    }
  }

  /** Writes text, as {@link #write} does. */
  public Optional<String> writeText(String text) {
    try {
      createDirectories();
      Files.writeString(path, text);
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of("the report was not written: " + reason(e));
    }
  }

  private void createDirectories() throws IOException {
    Path directory = path.toAbsolutePath().getParent();
    if (directory != null) {
      Files.createDirectories(directory);
    }
  }

  private static String reason(IOException failure) {
    return failure.getClass().getSimpleName() + " " + failure.getMessage();
  }
}
