// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SparkLauncherCommandTest {
  @Test
  void shouldReadTheWordsAfterTheMark() {
    assertThat(SparkLauncherCommand.parse(bytes("\0\njava\0-cp\0/a path/*\0Main\0")))
        .containsExactly("java", "-cp", "/a path/*", "Main");
  }

  @Test
  void shouldReadNoCommandWhenTheLauncherPrintsAnythingElse() {
    assertThat(SparkLauncherCommand.parse(bytes("Spark home not found\n"))).isEmpty();
  }

  @Test
  void shouldReadTheScalaVersionFromTheNameOfItsJar(@TempDir Path jars) throws Exception {
    Files.createFile(jars.resolve("scala-library-all-1.jar"));
    Files.createFile(jars.resolve("scala-library-2.12.18.jar"));
    assertThat(SparkLauncherCommand.scalaVersion(jars)).isEqualTo("2.12");
  }

  @Test
  void shouldReportThatADirectoryIsNoSparkHome(@TempDir Path empty) {
    assertThatThrownBy(() -> SparkLauncherCommand.scalaVersion(empty))
        .isInstanceOf(ClusterException.class)
        .hasMessage("no Spark in " + empty + ": it has no scala-library jar");
    assertThatThrownBy(() -> SparkLauncherCommand.scalaVersion(empty.resolve("missing")))
        .isInstanceOf(ClusterException.class);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
