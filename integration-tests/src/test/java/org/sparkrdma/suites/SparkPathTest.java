// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SparkPathTest {
  @TempDir private Path home;

  @Test
  void shouldListTheJarsOfSparksLauncherInItsOrder() throws IOException {
    createJars();
    List<String> path = List.of(SparkPath.of(home).split(":"));
    assertThat(path).hasSize(3).first().isEqualTo(home.resolve("conf").toString());
    assertThat(Path.of(path.get(1)).normalize()).isEqualTo(home.resolve("jars/slf4j-api-2.jar"));
    assertThat(path.get(2)).isEqualTo(home.resolve("jars") + "/*");
  }

  /** Else executors in Spark's tests have other class paths than the archive of classes. */
  @Test
  void shouldLoseNoEntryWhenEqualStringsAreRemoved() throws IOException {
    createJars();
    List<String> path = expanded(SparkPath.of(home));
    Set<String> distinct = new LinkedHashSet<>(path);
    assertThat(path).hasSize(4);
    assertThat(distinct).containsExactlyElementsOf(path);
  }

  private void createJars() throws IOException {
    Files.createDirectories(home.resolve("jars"));
    for (String name : List.of("avro-1.jar", "slf4j-api-2.jar")) {
      Files.createFile(home.resolve("jars").resolve(name));
    }
  }

  /** The class path after the java launcher has replaced the wildcard. */
  private static List<String> expanded(String path) throws IOException {
    List<String> entries = List.of(path.split(":"));
    Path jars = Path.of(entries.get(2)).getParent();
    try (Stream<Path> all = Files.list(jars)) {
      return Stream.concat(entries.stream().limit(2), all.map(Path::toString)).toList();
    }
  }
}
