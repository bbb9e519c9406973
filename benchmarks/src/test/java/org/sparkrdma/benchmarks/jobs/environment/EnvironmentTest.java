// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.environment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class EnvironmentTest {
  @TempDir private Path directory;

  @Test
  void shouldReportTheSettingsThatTheUserHasGiven() {
    Environment environment =
        Environment.of(new SparkConf(false).set("spark.reducer.maxSizeInFlight", "12m"));
    assertThat(environment.settings())
        .containsOnly(Map.entry("spark.reducer.maxSizeInFlight", "12m"));
    assertThat(environment.host()).contains(" processors, ");
    assertThat(Environment.now().settings()).isEmpty();
  }

  @Test
  void shouldReadVersionAndCommitOfAJar() throws Exception {
    Manifest manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    attributes.put(Attributes.Name.IMPLEMENTATION_VERSION, "3.1");
    assertThat(JarBuild.of(jar(manifest))).isEqualTo("3.1, commit unknown");
    attributes.put(JarBuild.COMMIT, "0123456789-dirty");
    assertThat(JarBuild.of(jar(manifest))).isEqualTo("3.1, commit 0123456789-dirty");
    // Of no jar.
    assertThat(JarBuild.of(EnvironmentTest.class)).isEqualTo("unknown");
    assertThat(JarBuild.of(String.class)).isEqualTo("unknown");
  }

  private Path jar(Manifest manifest) throws IOException {
    Path jar = directory.resolve("a.jar");
    new JarOutputStream(Files.newOutputStream(jar), manifest).close();
    return jar;
  }
}
