// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.RdmaPlugin;

class ConfigurationTemplateTest {
  private static final Path TEMPLATE = Path.of("..", "conf", "spark-defaults.conf.template");
  private static final Pattern LINE = Pattern.compile("(#demo )?(spark\\.\\S+)\\s+(\\S+)");

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
