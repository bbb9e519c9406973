// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.RdmaPlugin;

/** Pages for users name public settings only, and the template is right. */
class DocumentedSettingsTest {
  private static final Path PROJECT = Path.of("..");
  private static final Path TEMPLATE = Path.of("..", "conf", "spark-defaults.conf.template");
  private static final Pattern LINE = Pattern.compile("(#demo )?(spark\\.\\S+)\\s+(\\S+)");
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

  @Test
  void shouldSelectThePlugInWithTwoLines() throws IOException {
    assertThat(lines(false))
        .containsOnlyKeys("spark.jars", "spark.plugins")
        .containsEntry("spark.plugins", RdmaPlugin.class.getName());
  }

  @Test
  void shouldContainAValidDemonstration() throws IOException {
    Map<String, String> demo = lines(true);
    SparkConf conf = new SparkConf(false);
    demo.forEach(conf::set);
    assertThat(ShuffleSettings.of(conf).engine()).isEqualTo("soft");
    assertThat(demo).containsEntry("spark.shuffle.readHostLocalDisk", "false");
  }

  private static Map<String, String> lines(boolean demo) throws IOException {
    Map<String, String> found = new TreeMap<>();
    for (String line : Files.readAllLines(TEMPLATE)) {
      Matcher matcher = LINE.matcher(line);
      if (matcher.matches() && (matcher.group(1) != null) == demo) {
        found.put(matcher.group(2), matcher.group(3));
      }
    }
    return found;
  }
}
