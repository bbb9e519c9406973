// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.sparkrdma.cluster.LaunchException;
import picocli.CommandLine.Option;

/** The options that the scripts give to every command. Confined to the thread of the command. */
public class LaunchOptions {
  /** Maximum number of rounds, and of warm-ups. */
  private static final int MAX_ROUNDS = 1_000;

  @Option(names = "--work-dir", required = true)
  private Path workDirectory;

  @Option(names = "--project", hidden = true, required = true)
  private Path project;

  private final ProgressLog progress = new ProgressLog();

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
    return progress;
  }

  /**
   * Checks the whole number that an option gives.
   *
   * @throws MisuseException when it is not from {@code min} to {@code max}
   */
  public static void check(String option, long value, long min, long max) {
    if (value < min || value > max) {
      throw new MisuseException(
          "%s is '%d': give a whole number from %d to %d".formatted(option, value, min, max));
    }
  }

  /** Checks {@code --rounds} and {@code --warm-ups}, as {@link #check}. */
  public static void checkRounds(int rounds, int warmUps) {
    check("--rounds", rounds, 1, MAX_ROUNDS);
    checkWarmUps(warmUps);
  }

  /** Checks {@code --warm-ups}, as {@link #check}. */
  public static void checkWarmUps(int warmUps) {
    check("--warm-ups", warmUps, 0, MAX_ROUNDS);
  }

  /** The option {@code --jfr DIR}. */
  public static final class FlightRecordings {
    @Option(names = "--jfr", paramLabel = "DIR")
    private Path directory;

    /** Settings with which each executor writes a recording into the directory, if it is given. */
    public Map<String, String> conf() throws IOException {
      return directory == null
          ? Map.of()
          : Map.of(
              "spark.executor.extraJavaOptions",
              "-XX:StartFlightRecording:filename=%s,settings=profile"
                  .formatted(Files.createDirectories(directory).toRealPath()));
    }
  }

  /** The option {@code --report FILE}. Confined to the thread of the command. */
  public static final class Report {
    @Option(names = "--report", paramLabel = "FILE")
    private Path file;

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
     * @throws MisuseException when it cannot
     */
    public void check() {
      if (file == null) {
        return;
      }
      try {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.newOutputStream(file).close();
        Files.delete(file);
      } catch (IOException e) {
        throw new MisuseException(
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
}
