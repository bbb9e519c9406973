// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExecutorClassPathTest {
  private static final String EXECUTOR = "spark.executor.extraClassPath";
  private static final String DRIVER = "spark.driver.extraClassPath";
  private static final String MANAGER = "org.sparkrdma.shuffle.RdmaShuffleManager";
  private static final String OLD_SPARK = "3.5.9";

  @TempDir private Path directory;
  private Path plugIn;
  private Path otherJar;

  @BeforeEach
  void makeJars() throws IOException {
    plugIn = jar("plug-in.jar", MANAGER);
    otherJar = jar("other/other.jar", "com.example.Other");
  }

  @Test
  void shouldNameBothKeysWhereTheJarComesFromTheApplicationsJars() {
    assertThat(fromApplicationJars(OLD_SPARK).problem(conf()))
        .hasValueSatisfying(
            problem ->
                assertThat(problem)
                    .contains("Spark 3.5.9", MANAGER, "--jars", EXECUTOR, DRIVER)
                    .hasLineCount(1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"4.0.2", "4.1.3", "4.2.0", "5.0.0-SNAPSHOT", "vendor"})
  void shouldAcceptTheApplicationsJarsFromSpark4On(String version) {
    assertThat(fromApplicationJars(version).problem(conf())).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"local", "local[2]", "local[*]"})
  void shouldAcceptLocalModeWithoutExecutors(String master) {
    assertThat(fromApplicationJars(OLD_SPARK).problem(conf().set("spark.master", master)))
        .isEmpty();
  }

  @Test
  void shouldAcceptTheJarOnTheExecutorsClassPath() {
    assertThat(problem(fromApplicationJars(OLD_SPARK), otherJar + ":" + plugIn)).isEmpty();
    assertThat(problem(fromApplicationJars(OLD_SPARK), directory + "/*")).isEmpty();
  }

  @Test
  void shouldAcceptPathsThatExistOnExecutorsOnly() {
    assertThat(problem(fromApplicationJars(OLD_SPARK), "/opt/nowhere/plug-in.jar")).isEmpty();
    assertThat(problem(fromApplicationJars(OLD_SPARK), "/opt/nowhere/*")).isEmpty();
  }

  @Test
  void shouldRefuseAnExecutorClassPathWithoutTheManager() {
    assertThat(problem(fromApplicationJars(OLD_SPARK), otherJar.toString()))
        .hasValueSatisfying(problem -> assertThat(problem).contains("now " + EXECUTOR + "="));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldRefuseAJarThatOnlyTheDriversClassPathHas(boolean wildcard) {
    SparkConf conf = conf().set(DRIVER, wildcard ? directory + "/*" : plugIn.toString());
    assertThat(onClassPath().problem(conf)).isPresent();
    assertThat(onClassPath().problem(conf.set(EXECUTOR, plugIn.toString()))).isEmpty();
  }

  @Test
  void shouldAcceptAJarInSparksOwnDirectory() {
    assertThat(onClassPath().problem(conf())).isEmpty();
    assertThat(onClassPath().problem(conf().set(DRIVER, otherJar.toString()))).isEmpty();
  }

  @Test
  void shouldIgnoreAClassOutsideAJar() {
    var unpacked = new ExecutorClassPath(OLD_SPARK, MANAGER, false, Optional.empty());
    assertThat(unpacked.problem(conf())).isEmpty();
  }

  private Optional<String> problem(ExecutorClassPath executors, String classPath) {
    return executors.problem(conf().set(EXECUTOR, classPath));
  }

  private static ExecutorClassPath fromApplicationJars(String version) {
    return new ExecutorClassPath(version, MANAGER, true, Optional.empty());
  }

  private ExecutorClassPath onClassPath() {
    return new ExecutorClassPath(OLD_SPARK, MANAGER, false, Optional.of(plugIn));
  }

  private static SparkConf conf() {
    return new SparkConf(false).set("spark.master", "spark://127.0.0.1:7077");
  }

  private Path jar(String name, String className) throws IOException {
    Path path = directory.resolve(name);
    Files.createDirectories(path.getParent());
    try (OutputStream file = Files.newOutputStream(path);
        JarOutputStream jar = new JarOutputStream(file)) {
      jar.putNextEntry(new JarEntry(className.replace('.', '/') + ".class"));
      jar.closeEntry();
    }
    return path;
  }
}
