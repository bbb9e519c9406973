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

  /** A typo, or a file that this user may not read. */
  @Test
  void shouldDoubtPathsOfSpark35ThatCannotBeReadHere() throws IOException {
    SparkConf typo = conf().set(EXECUTOR, "/opt/nowhere/plug-in.jar");
    assertThat(onClassPath().doubt(typo))
        .hasValueSatisfying(
            doubt ->
                assertThat(doubt)
                    .contains("this machine cannot read /opt/nowhere/plug-in.jar;", EXECUTOR));
    assertThat(onClassPath("4.2.0").doubt(typo)).as("a listener sees such executors").isEmpty();
    assertThat(onClassPath().doubt(conf().set(EXECUTOR, directory + "/*"))).isEmpty();
    assertThat(onClassPath().doubt(conf().set(EXECUTOR, plugIn + ":/opt/nowhere/a.jar"))).isEmpty();
    assertThat(onClassPath().doubt(conf().set(EXECUTOR, "./plug-in.jar"))).isEmpty();
    assertThat(onClassPath().doubt(conf())).isEmpty();
  }

  @Test
  void shouldNameTheFilesThatMayKeepExecutorsFromRegistering() {
    assertThat(ExecutorClassPath.whyNot(conf()))
        .contains("the plug-in's jar may be missing or unreadable on their machines");
    assertThat(
            ExecutorClassPath.whyNot(
                conf()
                    .set(EXECUTOR, plugIn + ":/opt/nowhere/*")
                    .set("spark.jars", "file:///opt/typo.jar,hdfs://host/a.jar," + plugIn)))
        .contains("this machine cannot read /opt/nowhere/*, /opt/typo.jar;");
  }

  @Test
  void shouldRefuseAnExecutorClassPathWithoutTheManager() {
    assertThat(problem(fromApplicationJars(OLD_SPARK), otherJar.toString()))
        .hasValueSatisfying(problem -> assertThat(problem).contains("now " + EXECUTOR + "="));
    assertThat(problem(fromApplicationJars(OLD_SPARK), otherJar.getParent() + "/*")).isPresent();
    assertThat(problem(fromApplicationJars(OLD_SPARK), otherJar.getParent().toString()))
        .isPresent();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldRefuseAJarThatOnlyTheDriversClassPathHas(boolean wildcard) {
    SparkConf conf = conf().set(DRIVER, wildcard ? directory + "/*" : plugIn.toString());
    assertThat(onClassPath().problem(conf)).isPresent();
    assertThat(onClassPath().problem(conf.set(EXECUTOR, plugIn.toString()))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"spark://127.0.0.1:7077", "yarn", "local-cluster[2,1,1024]"})
  void shouldRefuseFromSpark4OnAJarThatOnlyTheDriversClassPathHas(String master) {
    SparkConf conf = conf().set("spark.master", master).set(DRIVER, plugIn.toString());
    assertThat(onClassPath("4.2.0").problem(conf))
        .hasValueSatisfying(
            problem ->
                assertThat(problem)
                    .contains("Spark 4.2.0", MANAGER, "only " + DRIVER, "spark.jars", EXECUTOR)
                    .hasLineCount(1));
    conf.set("spark.jars", "file:" + otherJar).set(EXECUTOR, otherJar.toString());
    assertThat(onClassPath("4.2.0").problem(conf)).as("jars without the class").isPresent();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "spark.jars=hdfs://host/plug-in.jar",
        "spark.jars=PLUGIN",
        "spark.jars=file:PLUGIN",
        "spark.jars=file://PLUGIN",
        "spark.jars=OTHER, local:/opt/plug-in.jar",
        "spark.yarn.dist.jars=PLUGIN",
        "spark.yarn.jars=hdfs://host/jars/*",
        "spark.yarn.archive=hdfs://host/jars.zip",
        "spark.executor.extraClassPath=PLUGIN",
        "spark.executor.extraClassPath=/opt/nowhere/plug-in.jar",
        "spark.master=k8s://https://host:6443"
      })
  void shouldAcceptFromSpark4OnAJarThatExecutorsMayHave(String setting) {
    SparkConf conf = conf().set(DRIVER, plugIn.toString());
    String[] parts = setting.split("=", 2);
    conf.set(
        parts[0],
        parts[1].replace("PLUGIN", plugIn.toString()).replace("OTHER", otherJar.toString()));
    assertThat(onClassPath("4.2.0").problem(conf)).isEmpty();
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
    return onClassPath(OLD_SPARK);
  }

  private ExecutorClassPath onClassPath(String version) {
    return new ExecutorClassPath(version, MANAGER, false, Optional.of(plugIn));
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
