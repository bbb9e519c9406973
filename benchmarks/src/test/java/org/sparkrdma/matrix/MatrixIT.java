// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.cluster.ClusterSettings;
import org.sparkrdma.cluster.SparkApplication;
import org.sparkrdma.cluster.StandaloneCluster;
import org.sparkrdma.launch.CheckedExecutors;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.launch.ProgressLog;
import org.sparkrdma.launch.Script;

/**
 * The packaged jar on real clusters of the oldest and, nightly, of the newest Spark that this
 * machine can run.
 */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class MatrixIT {
  private static final Installation INSTALLATION =
      new Installation(Path.of("..").toAbsolutePath().normalize());

  private static Path oldestHome;

  @TempDir private Path directory;

  /** Assembled once, before the tests, which run at the same time. */
  @BeforeAll
  @Timeout(value = 15, unit = TimeUnit.MINUTES)
  static void assembleTheOldestSpark() throws Exception {
    ProgressLog progress = new ProgressLog(System.out, System::nanoTime);
    oldestHome = new SparkHomes(INSTALLATION, progress).home("3.5.9", "2.12");
  }

  @Test
  void shouldGiveTheSameAnswersOnTheOldestSpark() throws Exception {
    assertSameAnswers("oldest");
  }

  @Test
  @Tag("nightly")
  void shouldGiveTheSameAnswersOnTheNewestSpark() throws Exception {
    assertSameAnswers("newest");
  }

  private void assertSameAnswers(String cell) throws Exception {
    Path report = directory.resolve("matrix.json");
    CheckedExecutors executors = CheckedExecutors.in(directory);
    Script.Outcome outcome =
        Script.run(
            Script.briefly(executors),
            "dev/matrix",
            "--cells",
            cell,
            "--keep",
            "--work-dir",
            directory.resolve("work").toString(),
            "--report",
            report.toString());
    assertThat(outcome.exitCode()).as(outcome.output()).isZero();
    assertThat(executors.assertNoLeaks().ran()).isPositive();
    CheckedExecutors.assertNoViolations(directory.resolve("work"));

    JsonNode written = new ObjectMapper().readTree(report.toFile());
    JsonNode cells = written.path("cells");
    assertThat(cells).hasSize(1);
    assertThat(cells.get(0).path("answerRight").asBoolean()).isTrue();
    assertThat(cells.get(0).path("bytesByRead").asLong()).isPositive();
    assertThat(driverLog())
        .filteredOn(line -> line.contains("Shuffle of this application: "))
        .as("one summary")
        .singleElement()
        .asString()
        .contains("readBytes=", " fallbacks={", " highestPinnedBytes=");
  }

  /** The driver's log of the application with the plug-in. */
  private List<String> driverLog() throws IOException {
    try (Stream<Path> files = Files.walk(directory.resolve("work"))) {
      Path log =
          files.filter(file -> file.endsWith(Path.of("logs", "soft.log"))).findAny().orElseThrow();
      return Files.readAllLines(log);
    }
  }

  /** Executors of Spark 3.5 that cannot load the manager end at once and are replaced for ever. */
  @Test
  void shouldStopTheDriverWhereExecutorsOfSpark35CannotLoadTheManager() throws Exception {
    SparkApplication application =
        new SparkApplication(
            "jars-alone",
            MatrixApplication.class.getName(),
            INSTALLATION.jobs(),
            INSTALLATION.jarsToShip(),
            512,
            conf(),
            List.of(plan(), directory.resolve("result.json").toString()));
    try (StandaloneCluster cluster =
        StandaloneCluster.start(
            ClusterSettings.twoWorkers(oldestHome, directory)
                .withSpark(oldestHome, java17Home()))) {
      int exitCode = cluster.run(application, line -> {});
      List<String> log = Files.readAllLines(cluster.driverLog(application));

      assertThat(exitCode).isNotZero();
      assertThat(String.join("\n", log))
          .contains(
              "ERROR RdmaShuffleManager: executors of Spark 3.5.9 cannot load"
                  + " org.sparkrdma.shuffle.RdmaShuffleManager, because they do not load a shuffle"
                  + " manager from --jars or spark.jars: set spark.jars to the plug-in's jar and"
                  + " spark.plugins=org.sparkrdma.shuffle.RdmaPlugin instead of"
                  + " spark.shuffle.manager, or copy the jar to the same path on every node and"
                  + " set both spark.executor.extraClassPath and spark.driver.extraClassPath to"
                  + " that path");
      assertThat(executorDirectories()).isZero();
    }
  }

  /** Spark 3.5 runs on Java 17 and not on all later versions. */
  private static Path java17Home() throws Exception {
    Path home = JavaHomes.find(Path.of("..").toAbsolutePath().normalize()).get(17);
    assumeTrue(home != null, "no JDK of version 17");
    return home;
  }

  private String plan() throws IOException {
    Path plan = directory.resolve("plan.json");
    String data = "file:" + directory.resolve("data");
    new ObjectMapper()
        .writeValue(plan.toFile(), new MatrixPlan(true, data, data + "-sorted", "rows", 10, 1, 10));
    return plan.toString();
  }

  private static Map<String, String> conf() {
    Map<String, String> conf = new HashMap<>();
    conf.put("spark.shuffle.manager", "org.sparkrdma.shuffle.RdmaShuffleManager");
    conf.put("spark.driver.host", "127.0.0.1");
    conf.put("spark.driver.bindAddress", "127.0.0.1");
    conf.put("spark.ui.enabled", "false");
    return conf;
  }

  /** A Worker creates a directory for each application and, below it, one for each executor. */
  private long executorDirectories() throws IOException {
    try (Stream<Path> files = Files.walk(directory.resolve("logs"))) {
      return files
          .filter(file -> file.getParent().getFileName().toString().startsWith("app-"))
          .count();
    }
  }
}
