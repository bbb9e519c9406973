// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.environment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.benchmarks.jobs.plan.ShuffleMode;

@Tag("slow")
@Timeout(120)
class EnvironmentTest {
  @TempDir private Path directory;

  @Test
  void shouldReportTheSettingsOfAShuffleApartFromTheUsers() {
    SparkConf user =
        new SparkConf(false)
            .set("spark.reducer.maxSizeInFlight", "12m")
            .set("spark.executor.cores", "1");
    SparkConf application =
        user.clone()
            .setMaster("local[1]")
            .setAppName("environment")
            .set("spark.ui.enabled", "false")
            .set("spark.driver.host", "127.0.0.1");
    ShuffleMode.TUNED.conf().forEach(application::set);
    try (JavaSparkContext spark = new JavaSparkContext(application)) {
      Environment environment =
          Environment.of(spark, user, List.of(ShuffleMode.TUNED, ShuffleMode.VANILLA));
      assertThat(environment.settings())
          .containsEntry("spark.reducer.maxSizeInFlight", "12m")
          .containsOnlyKeys("spark.reducer.maxSizeInFlight", "spark.executor.cores");
      assertThat(environment.shuffleSettings().get("tuned"))
          .containsEntry("spark.reducer.maxSizeInFlight", "96m");
      assertThat(environment.shuffleSettings().get("vanilla"))
          .containsOnlyKeys("spark.shuffle.manager");
      // The collector of this JVM, which is the executor here.
      assertThat(environment.jvm()).matches("[A-Za-z0-9 +]+;.*");
    }
  }

  @Test
  void shouldReportOnlyFlagsThatHoldNoText() {
    assertThat(
            JvmFlags.harmless(
                List.of(
                    "-Xmx1024M",
                    "-XX:+UseG1GC",
                    "-XX:MaxGCPauseMillis=20",
                    "-Dspark.secret=abc",
                    "-XX:OnOutOfMemoryError=mail -s secret",
                    "-XX:HeapDumpPath=/home/me",
                    "-javaagent:/a.jar=password",
                    "-Xlog:gc:/tmp/log")))
        .containsExactly("-Xmx1024M", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20");
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
