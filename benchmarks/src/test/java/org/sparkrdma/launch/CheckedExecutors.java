// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.sparkrdma.executors.ChecksAgent;
import org.sparkrdma.executors.LeakLog;
import org.sparkrdma.executors.Violations;

/**
 * The executors of one run: their assertions are on, and they record leaks. Confined to the test's
 * thread.
 */
public final class CheckedExecutors {
  /** Maximum wait for the end of executors. */
  private static final Duration END = Duration.ofSeconds(15);

  private final Path results;

  private CheckedExecutors(Path results) {
    this.results = results;
  }

  /**
   * Executors of a run that starts later.
   *
   * @param directory for a folder with their results
   */
  public static CheckedExecutors in(Path directory) throws IOException {
    return new CheckedExecutors(Files.createTempDirectory(directory, "executors"));
  }

  /**
   * Variables of the run's environment.
   *
   * @param options more options of its JVMs
   */
  public Map<String, String> variables(String options) {
    return Map.of(
        "JDK_JAVA_OPTIONS",
        ChecksAgent.options() + " " + options,
        LeakLog.VARIABLE,
        results.toString());
  }

  /** The folder of their results. */
  public Path results() {
    return results;
  }

  /** Asserts that the executors have leaked nothing, and that one was judged where any ran. */
  public LeakLog assertNoLeaks() throws IOException, InterruptedException {
    LeakLog log = LeakLog.read(results, END);
    assertThat(log.objections()).isEmpty();
    return log;
  }

  /** Asserts that no log of an executor below a folder has a violated assertion. */
  public static void assertNoViolations(Path logs) throws IOException {
    try (Stream<Path> files = Files.walk(logs)) {
      for (Path log : files.filter(file -> file.endsWith("stderr")).toList()) {
        assertNoViolations(Files.readAllLines(log, StandardCharsets.ISO_8859_1));
      }
    }
  }

  /** The same for lines of logs. */
  public static void assertNoViolations(List<String> log) {
    assertThat(Violations.in(log)).as("violated assertions").isEmpty();
  }
}
