// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The alerts of {@code conf/} as Prometheus evaluates them, by its own {@code promtool} of the
 * search path: what makes each fire, and what does not.
 */
@Timeout(60)
class AlertRulesTest {
  private static final Path RULES = Path.of("..", "conf", "prometheus-alerts.yaml");
  private static final String CASES = "prometheus-alerts-test.yaml";

  @TempDir private Path directory;
  private String promtool;

  @BeforeEach
  void find() throws Exception {
    Optional<Path> found = SearchPath.find("promtool");
    assumeTrue(found.isPresent(), "no promtool in the search path");
    promtool = found.get().toString();
    Files.copy(RULES, directory.resolve(RULES.getFileName()));
    try (InputStream cases = AlertRulesTest.class.getResourceAsStream(CASES)) {
      Files.copy(cases, directory.resolve(CASES));
    }
  }

  @Test
  void shouldBeAcceptedByPrometheus() throws Exception {
    assertThat(run("check", "rules", RULES.getFileName().toString())).contains("3 rules found");
  }

  @Test
  void shouldFireForTheStateThatTheyNameOnly() throws Exception {
    assertThat(run("test", "rules", CASES)).contains("SUCCESS");
  }

  @Test
  void shouldTestEachAlertInBothDirections() throws Exception {
    String cases = Files.readString(directory.resolve(CASES));
    Files.readString(RULES)
        .lines()
        .filter(line -> line.contains("- alert: "))
        .map(line -> line.substring(line.indexOf(": ") + 2))
        .forEach(
            alert ->
                assertThat(cases)
                    .contains("alertname: " + alert + "\n        exp_alerts: []\n")
                    .contains("alertname: " + alert + "\n        exp_alerts:\n"));
  }

  /** Returns the output of promtool, which ends well. */
  private String run(String... arguments) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(promtool);
    builder.command().addAll(List.of(arguments));
    Process process = builder.directory(directory.toFile()).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }
}
