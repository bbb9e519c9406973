// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class SuiteSelectionTest {
  private static final Path SCENARIOS =
      Path.of("src", "test", "scala", "org", "sparkrdma", "scenarios");

  /** A suite that is not in the list would never run. */
  @Test
  void shouldRunEveryScenarioSuiteEveryDay() throws IOException {
    List<String> suites = Suites.all(false).stream().flatMap(run -> run.suites().stream()).toList();
    try (Stream<Path> files = Files.walk(SCENARIOS)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .filteredOn(name -> name.endsWith("Suite.scala") && !name.equals("ScenarioSuite.scala"))
          .hasSizeGreaterThan(10)
          .allMatch(name -> suites.contains(name.replace(".scala", "")));
    }
  }
}
