// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExecutorClassPathTest {
  private static final String EXECUTOR = "spark.executor.extraClassPath";
  private static final String MANAGER = "org.sparkrdma.shuffle.RdmaShuffleManager";
  private static final String OLD_SPARK = "3.5.9";
  private static final String DRIVER = "spark.driver.extraClassPath";
  private static final String JAR = "/opt/plug-in.jar";

  private final SparkConf conf = new SparkConf(false).set("spark.master", "spark://127.0.0.1:7077");

  private Optional<String> problem(String version, boolean fromApplicationJars) {
    return ExecutorClassPath.problem(
        conf, version, MANAGER, fromApplicationJars, fromApplicationJars ? "" : JAR);
  }

  @ParameterizedTest
  @ValueSource(strings = {JAR, "/opt/other.jar:/opt/plug-in.jar"})
  void shouldRefuseAJarThatOnlyTheDriversClassPathHas(String entries) {
    conf.set(DRIVER, entries);
    for (String version : new String[] {OLD_SPARK, "4.2.0"}) {
      assertThat(problem(version, false))
          .hasValueSatisfying(problem -> assertThat(problem).contains("only " + DRIVER, EXECUTOR));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"spark.yarn.dist.jars", "spark.yarn.jars", "spark.yarn.archive", EXECUTOR})
  void shouldAcceptAJarThatExecutorsMayHaveFromElsewhere(String key) {
    conf.set(DRIVER, JAR).set(key, "/somewhere");
    assertThat(problem("4.2.0", false)).isEmpty();
  }

  /** The job's own jar is always there; a file that does not exist brings nothing. */
  @Test
  void shouldLookForTheClassInTheJarsOfTheApplication(@TempDir Path directory) throws Exception {
    conf.set(DRIVER, JAR);
    Path job = jar(directory.resolve("a job.jar"), "Job.class");
    Path plugIn = jar(directory.resolve("p.jar"), MANAGER.replace('.', '/') + ".class");
    Path broken = Files.write(directory.resolve("broken.jar"), new byte[100]);
    Path gone = directory.resolve("gone.jar");
    for (String jars : List.of(job.toUri() + "," + broken.toUri(), gone.toString())) {
      assertThat(problem("4.2.0", false, jars)).as(jars).isPresent();
    }
    for (String jars : List.of(job + "," + plugIn.toUri(), "hdfs://host/p.jar", "local:/p.jar")) {
      assertThat(problem("4.2.0", false, jars)).as(jars).isEmpty();
    }
  }

  private Optional<String> problem(String version, boolean fromApplicationJars, String jars) {
    conf.set("spark.jars", jars);
    return problem(version, fromApplicationJars);
  }

  private static Path jar(Path file, String entry) throws IOException {
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(file))) {
      zip.putNextEntry(new ZipEntry(entry));
      zip.closeEntry();
    }
    return file;
  }

  @ParameterizedTest
  @ValueSource(strings = {"4.0.2", "4.1.3", "4.2.0", "5.0.0-SNAPSHOT", "vendor"})
  void shouldAcceptTheApplicationsJarsFromSpark4On(String version) {
    assertThat(problem(version, true)).isEmpty();
  }
}
