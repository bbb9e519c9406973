// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

import java.util.Optional;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExecutorClassPathTest {
  private static final String EXECUTOR = "spark.executor.extraClassPath";
  private static final String MANAGER = "org.sparkrdma.shuffle.RdmaShuffleManager";
  private static final String OLD_SPARK = "3.5.9";

  private final SparkConf conf = new SparkConf(false).set("spark.master", "spark://127.0.0.1:7077");

  private Optional<String> problem(String version, boolean fromApplicationJars) {
    return ExecutorClassPath.problem(conf, version, MANAGER, fromApplicationJars);
  }

  @Test
  void shouldNameBothKeysWhereTheJarComesFromTheApplicationsJars() {
    assertThat(problem(OLD_SPARK, true))
        .hasValueSatisfying(
            problem ->
                assertThat(problem)
                    .contains("Spark 3.5.9", MANAGER, "--jars", EXECUTOR)
                    .contains("spark.driver.extraClassPath", "spark.plugins=")
                    .hasLineCount(1));
  }

  @Test
  void shouldAcceptAJarOfTheApplicationWhereExecutorsMayHaveOneOfTheirOwn() {
    conf.set(EXECUTOR, "/opt/plug-in.jar");
    assertThat(problem(OLD_SPARK, true)).isEmpty();
  }

  @Test
  void shouldAcceptAJarOnTheClassPathOfTheDriver() {
    assertThat(problem(OLD_SPARK, false)).isEmpty();
    assertThatNoException()
        .isThrownBy(() -> ExecutorClassPath.requireLoadable(conf, ExecutorClassPathTest.class));
  }

  @ParameterizedTest
  @ValueSource(strings = {"4.0.2", "4.1.3", "4.2.0", "5.0.0-SNAPSHOT", "vendor"})
  void shouldAcceptTheApplicationsJarsFromSpark4On(String version) {
    assertThat(problem(version, true)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"local", "local[2]", "local[*]"})
  void shouldAcceptLocalModeWithoutExecutors(String master) {
    conf.set("spark.master", master);
    assertThat(problem(OLD_SPARK, true)).isEmpty();
  }
}
