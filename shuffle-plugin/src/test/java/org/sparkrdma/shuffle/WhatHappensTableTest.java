// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table "What happens when" of ARCHITECTURE.md: which tests show each of its lines. */
class WhatHappensTableTest {
  private static final Path ROOT = Path.of("..");
  private static final String HEADER = "\n| event | effect | shown |\n|---|---|---|\n";
  private static final Pattern TEST = Pattern.compile("`([A-Z][A-Za-z]+(?:Test|Suite|IT))`");
  private static final Pattern KIND = Pattern.compile("\\*(simulated|guest|not shown)\\*");

  private static List<String> rows() throws IOException {
    String page = Files.readString(ROOT.resolve("ARCHITECTURE.md"));
    assertThat(page).contains(HEADER);
    return page.substring(page.indexOf(HEADER) + HEADER.length())
        .lines()
        .takeWhile(line -> line.startsWith("|"))
        .toList();
  }

  private static String shown(String row) {
    String[] cells = row.split("\\|", -1);
    assertThat(cells).as(row).hasSize(5);
    return cells[3].strip();
  }

  /** Test sources by the name of their class. */
  private static Map<String, Path> sources() throws IOException {
    try (Stream<Path> modules = Files.list(ROOT)) {
      return modules
          .map(module -> module.resolve("src/test"))
          .filter(Files::isDirectory)
          .flatMap(WhatHappensTableTest::filesBelow)
          .filter(file -> file.toString().matches(".*(Test|Suite|IT)\\.(java|scala)"))
          .collect(
              Collectors.toMap(
                  file -> file.getFileName().toString().replaceFirst("\\.[a-z]+$", ""),
                  file -> file,
                  (one, other) -> one));
    }
  }

  private static Stream<Path> filesBelow(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).toList().stream();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void shouldSayOfEachLineHowItIsShown() throws IOException {
    assertThat(rows())
        .hasSizeGreaterThan(40)
        .allSatisfy(row -> assertThat(KIND.matcher(shown(row)).lookingAt()).as(row).isTrue());
  }

  @Test
  void shouldNameTestsThatExistAndRunWhereItSays() throws IOException {
    Map<String, Path> sources = sources();
    for (String row : rows()) {
      String kind = "";
      for (String part : shown(row).split("(?=\\*(?:simulated|guest|not shown)\\*)", -1)) {
        kind = KIND.matcher(part).results().map(found -> found.group(1)).findFirst().orElse(kind);
        List<String> tests =
            TEST.matcher(part).results().map((MatchResult found) -> found.group(1)).toList();
        assertThat(sources.keySet()).as(row).containsAll(tests);
        boolean guest = kind.equals("guest");
        assertThat(tests)
            .as(row)
            .allMatch(test -> sources.get(test).toString().contains("/sparkrdma/guest/") == guest);
        if (!kind.equals("not shown")) {
          assertThat(tests).as(row).isNotEmpty();
        }
      }
    }
  }
}
