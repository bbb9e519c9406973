// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.tools.engines.SparkSettings;

class FactsTest {
  private static final SparkSettings SPARK =
      new SparkSettings(Map.of("spark.local.dir", "/of/spark,/more"));

  private static List<Path> directories(Map<String, String> environment) {
    return Facts.localDirectories(SPARK, environment);
  }

  @Test
  void shouldChooseLocalDirectoriesAsSparkDoes() {
    Path ofSpark = Path.of("/of/spark");
    assertThat(directories(Map.of())).containsExactly(ofSpark, Path.of("/more"));
    assertThat(directories(Map.of("SPARK_LOCAL_DIRS", "/a,/b")))
        .containsExactly(Path.of("/a"), Path.of("/b"));
    assertThat(directories(Map.of("LOCAL_DIRS", "/yarn"))).contains(ofSpark);
    assertThat(directories(Map.of("LOCAL_DIRS", "/yarn", "CONTAINER_ID", "c")))
        .containsExactly(Path.of("/yarn"));
  }

  @Test
  void shouldTakeTheDirectoriesThatAWorkerGivesItsExecutors() {
    assertThat(directories(Map.of("SPARK_EXECUTOR_DIRS", "/a:/b", "SPARK_LOCAL_DIRS", "/other")))
        .containsExactly(Path.of("/a"), Path.of("/b"));
  }
}
