/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
import org.sparkrdma.shuffle.RdmaShuffleManager;

class ConfigurationTemplateTest {
  private static final Path TEMPLATE = Path.of("..", "conf", "spark-defaults.conf.template");
  private static final Pattern LINE = Pattern.compile("(#demo )?(spark\\.\\S+)\\s+(\\S+)");

  @Test
  void shouldBeTwoLinesThatSelectThePlugIn() throws IOException {
    assertThat(lines(false))
        .containsOnlyKeys("spark.jars", "spark.shuffle.manager")
        .containsEntry("spark.shuffle.manager", RdmaShuffleManager.class.getName());
  }

  @Test
  void shouldOfferADemonstrationThatIsValid() throws IOException {
    Map<String, String> demo = lines(true);
    SparkConf conf = new SparkConf(false);
    demo.forEach(conf::set);
    assertThat(ShuffleSettings.of(conf).engine()).isEqualTo("soft");
    assertThat(demo).containsEntry("spark.shuffle.readHostLocalDisk", "false");
  }

  @Test
  void shouldSayNothingThatIsNeitherCommentNorSetting() throws IOException {
    assertThat(Files.readAllLines(TEMPLATE))
        .allMatch(line -> line.isEmpty() || line.startsWith("#") || LINE.matcher(line).matches());
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
