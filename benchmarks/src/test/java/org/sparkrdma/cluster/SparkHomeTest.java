// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SparkHomeTest {
  private static final Path JARS = Path.of(System.getProperty("sparkrdma.sparkHome"), "jars");

  /** Classes of two versions of Spark on one class path fail in ways that are hard to explain. */
  @Test
  void shouldHaveOneVersionOfEachLibrary() throws Exception {
    try (Stream<Path> jars = Files.list(JARS)) {
      List<String> libraries =
          jars.map(jar -> jar.getFileName().toString().replaceFirst("-[0-9][^-]*", "")).toList();
      assertThat(libraries)
          .as("also with copies of an earlier build, which ./mvnw clean removes")
          .isNotEmpty()
          .doesNotHaveDuplicates();
    }
  }
}
