// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Pages for users name public settings only. */
class DocumentedSettingsTest {
  private static final Path PROJECT = Path.of("..");
  private static final Pattern KEY =
      Pattern.compile(Pattern.quote(ShuffleSetting.PREFIX) + "([a-z]+(?:\\.[a-z]+)*)");

  @Test
  void shouldNamePublicSettingsThatExist() throws IOException {
    Set<String> known =
        Stream.of(ShuffleSetting.values())
            .filter(ShuffleSetting::isPublic)
            .map(ShuffleSetting::key)
            .collect(Collectors.toSet());
    List<String> wrong = new ArrayList<>();
    for (Path page : pages()) {
      KEY.matcher(Files.readString(page))
          .results()
          .filter(found -> !known.contains(found.group()))
          .filter(found -> !FormerSettings.all().containsKey(found.group(1)))
          .forEach(found -> wrong.add(PROJECT.relativize(page) + ": " + found.group()));
    }
    assertThat(wrong).isEmpty();
  }

  private static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>(List.of(PROJECT.resolve("README.md")));
    for (String folder : List.of("docs", "conf")) {
      try (Stream<Path> files = Files.walk(PROJECT.resolve(folder))) {
        files
            .filter(file -> file.toString().matches(".*\\.(md|template|yaml)"))
            .filter(file -> !file.toString().contains("/docs/dev/"))
            .forEach(pages::add);
      }
    }
    return pages;
  }
}
