// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class TroubleshootingPageTest {
  /** A line at WARN or ERROR, its meaning, and what to do. */
  private static final Pattern ROW = Pattern.compile("(?m)^\\| `([^`]+)` \\| [^|]+ \\| [^|]+ \\|$");

  private static final Pattern WARNING = Pattern.compile("\\.(?:warn|error)\\(\\s*\"([^\"]*)\"");
  private static final Path PAGE = Path.of("..", "docs", "troubleshooting.md");
  private static final Path IBVERBS =
      Path.of(
          "..", "rdma-core-java", "src", "main", "java", "org", "sparkrdma", "verbs", "ibverbs");

  @Test
  void shouldNameWarningsOfTheCode() throws Exception {
    Set<String> warnings = warnings(Path.of("src", "main", "java"));
    warnings.addAll(warnings(IBVERBS));

    Set<String> rows = new TreeSet<>();
    ROW.matcher(Files.readString(PAGE)).results().forEach(row -> rows.add(row.group(1)));

    assertThat(rows).hasSizeGreaterThan(5);
    assertThat(rows).allMatch(row -> warnings.stream().anyMatch(text -> text.startsWith(row)));
  }

  /**
   * The constant beginnings of all lines at WARN and ERROR; without those that are a parameter
   * only.
   */
  private static Set<String> warnings(Path sources) throws IOException {
    Set<String> found = new TreeSet<>();
    try (Stream<Path> files = Files.walk(sources)) {
      for (Path file : files.filter(one -> one.toString().endsWith(".java")).toList()) {
        WARNING
            .matcher(Files.readString(file))
            .results()
            .map(warning -> beginning(warning.group(1)))
            .filter(text -> !text.isEmpty())
            .forEach(found::add);
      }
    }
    return found;
  }

  private static String beginning(String text) {
    String constant = text.contains("{") ? text.substring(0, text.indexOf('{')) : text;
    return constant.replaceFirst("[ :=]+$", "");
  }
}
