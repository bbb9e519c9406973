// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class MigrationPageTest {
  private static final Pattern ROW =
      Pattern.compile(
          "(?m)^\\| `" + ShuffleSetting.PREFIX + "([^`]+)` \\| [^|]+ \\| ([^|]+) \\|.*$");

  @Test
  void shouldHaveARowWithTheReplacementOfEachFormerKey() throws IOException {
    Map<String, String> rows = new TreeMap<>();
    ROW.matcher(Files.readString(Path.of("..", "docs", "migration.md")))
        .results()
        .forEach(row -> rows.put(row.group(1), row.group(2)));

    assertThat(rows).isEqualTo(FormerSettings.all());
  }
}
