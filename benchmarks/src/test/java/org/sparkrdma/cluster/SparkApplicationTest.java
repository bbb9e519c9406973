// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SparkApplicationTest {
  @Test
  void shouldPutOptionsBeforeTheJarAndArgumentsAfterIt() {
    var application =
        new SparkApplication(
            "sort",
            "a.Main",
            Path.of("/app.jar"),
            List.of(Path.of("/one.jar"), Path.of("/two.jar")),
            512,
            Map.of("spark.x", "1"),
            List.of("in", "out"));
    assertThat(String.join(" ", application.submitArguments("spark://h:1")))
        .isEqualTo(
            "--master spark://h:1 --driver-memory 512m --conf spark.x=1 --jars /one.jar,/two.jar"
                + " --class a.Main /app.jar in out");
  }

  @Test
  void shouldLeaveJarsOutWhenThereAreNone() {
    var application =
        new SparkApplication(
            "sort", "a.Main", Path.of("/app.jar"), List.of(), 512, Map.of(), List.of());
    assertThat(application.submitArguments("spark://h:1")).doesNotContain("--jars");
  }
}
