// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkrdma.shuffle.settings.ShuffleSettings;

class ShuffleModeTest {
  @Test
  void shouldHaveTheNamesThatTheScriptsCheck() throws Exception {
    assertThat(Path.of("..", "dev", "launch.bash"))
        .content()
        .contains(
            "\nreadonly shuffle_modes='%s'\n"
                .formatted(
                    Arrays.stream(ShuffleMode.values())
                        .map(ShuffleMode::toString)
                        .collect(Collectors.joining(", "))));
  }

  /** Beside the manager "sort" the plug-in would replace Spark's client, and vanilla be RDMA. */
  @ParameterizedTest
  @EnumSource(names = {"VANILLA", "CONTROL", "TUNED"})
  void shouldCompareWithSparkAloneAlsoWhereTheUserSetsThePlugin(ShuffleMode mode) {
    SparkConf conf = new SparkConf(false).set("spark.shuffle.rdma.mode", "required");
    mode.conf().forEach(conf::set);
    assertThat(ShuffleSettings.of(conf).mode()).isEqualTo(ShuffleSettings.Mode.OFF);
    assertThat(conf.get("spark.shuffle.manager")).isEqualTo("sort");
  }

  /** The page configuration.md advises this mode for benchmarks. */
  @Test
  void shouldRunTasksWithoutRdmaAlsoWhereTheUserRequiresIt() {
    SparkConf conf = new SparkConf(false).set("spark.shuffle.rdma.mode", "required");
    ShuffleMode.FALLBACK.conf().forEach(conf::set);
    assertThat(ShuffleSettings.of(conf).mode()).isEqualTo(ShuffleSettings.Mode.AUTO);
  }
}
