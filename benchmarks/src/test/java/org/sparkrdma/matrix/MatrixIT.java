// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.cluster.JobFixture;
import org.sparkrdma.cluster.SparkSubmit;
import org.sparkrdma.cluster.job.ClusterJob;
import org.sparkrdma.cluster.job.JobResult;
import org.sparkrdma.launch.CheckedExecutors;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.launch.ProgressLog;
import org.sparkrdma.launch.Script;

/** The packaged jar on a real cluster of the oldest Spark that this machine can run. */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class MatrixIT {
  private static final Installation INSTALLATION =
      new Installation(Path.of("..").toAbsolutePath().normalize());

  private static final String CLUSTER = "local-cluster[2,1,2048]";

  private static final String PLUG_IN = "org.sparkrdma.shuffle.RdmaPlugin";

  private static Path oldestHome;

  @TempDir private Path directory;

  /** Assembled once, before the tests, which run at the same time. */
  @BeforeAll
  @Timeout(value = 15, unit = TimeUnit.MINUTES)
  static void assembleTheOldestSpark() throws Exception {
    ProgressLog progress = new ProgressLog();
    oldestHome = new SparkHomes(INSTALLATION, progress).home("3.5.9", "2.12");
  }

  @Test
  void shouldGiveTheSameAnswersOnTheOldestSpark() throws Exception {
    assertSameAnswers("oldest");
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

    JsonNode cells = new ObjectMapper().readTree(report.toFile()).path("cells");
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

  /** So that the first artefact of a later Spark joins the matrix on the day it appears. */
  @Test
  @Tag("nightly")
  void shouldHaveTheLatestSparkThatMavenServes() throws Exception {
    List<Cell> cells = Cell.all();
    String latest = cells.get(cells.size() - 1).spark().version();
    int patch = latest.lastIndexOf('.') + 1;
    // In Maven's order a preview of a release is later than it.
    String later =
        latest.substring(0, patch) + (Integer.parseInt(latest.substring(patch)) + 1) + "-alpha";
    Script.Outcome outcome =
        Script.run(
            Map.of(),
            "mvnw",
            "-B",
            "-q",
            "-f",
            INSTALLATION.project().resolve("benchmarks/src/spark-home/pom.xml").toString(),
            "dependency:tree",
            "-Dspark.version=[" + later + ",)",
            "-Dscala.binary.version=2.13");
    assertThat(outcome.output())
        .as("Maven serves a Spark later than " + latest + ": add it to SparkRelease")
        .contains("No versions available for org.apache.spark:spark-sql_2.13");
  }

  /** Executors of Spark 3.5 that cannot load the manager end at once and are replaced for ever. */
  @Test
  void shouldStopTheDriverWhereExecutorsOfSpark35CannotLoadTheManager() throws Exception {
    SparkSubmit.Outcome outcome =
        submit(
            oldestHome,
            CLUSTER,
            "shuffle",
            List.of("spark.shuffle.manager=org.sparkrdma.shuffle.RdmaShuffleManager"));
    assertThat(outcome.exitCode()).isNotZero();
    assertThat(outcome.errors())
        .contains(
            "ERROR RdmaShuffleManager: executors of Spark 3.5.9 cannot load"
                + " org.sparkrdma.shuffle.RdmaShuffleManager, because they do not load a shuffle"
                + " manager from --jars or spark.jars: set spark.jars to the plug-in's jar and"
                + " spark.plugins=org.sparkrdma.shuffle.RdmaPlugin instead of"
                + " spark.shuffle.manager, or copy the jar to the same path on every node and"
                + " set both spark.executor.extraClassPath and spark.driver.extraClassPath to"
                + " that path")
        .doesNotContain("Executor added");
  }

  /** A task after the other, so that Spark's own answer is the same in each run. */
  @ParameterizedTest
  @CsvSource({"3.5.9, 2.12", "4.2.0, 2.13"})
  void shouldCombineAndSortAsThatSparkDoes(String spark, String scala) throws Exception {
    assertCombinesAndSortsAs(spark, scala);
  }

  @ParameterizedTest
  @Tag("nightly")
  @CsvSource({"3.5.9, 2.13", "4.0.4, 2.13", "4.1.3, 2.13"})
  void shouldCombineAndSortAsEachOtherSparkDoes(String spark, String scala) throws Exception {
    assertCombinesAndSortsAs(spark, scala);
  }

  private void assertCombinesAndSortsAs(String spark, String scala) throws Exception {
    Path home = new SparkHomes(INSTALLATION, new ProgressLog()).home(spark, scala);
    List<String> alone = combining(home, "sort");
    // 150 records never spill, and 6,000 do where they are sorted or combined.
    String spills = "(?!NONE NONE )[A-Z]+ [A-Z_]+ 6000[ :].*";
    assertThat(alone).isNotEmpty().allMatch(l -> l.contains("spilled true") == l.matches(spills));
    assertThat(combining(home, "org.sparkrdma.shuffle.RdmaShuffleManager")).isEqualTo(alone);
  }

  private List<String> combining(Path home, String manager) throws Exception {
    return runJob(
            home,
            "local[1]",
            "combining",
            List.of(
                "spark.shuffle.manager=" + manager,
                "spark.driver.extraClassPath=" + INSTALLATION.plugIn(),
                "spark.shuffle.rdma.engine=soft",
                "spark.shuffle.rdma.waits.factor=100",
                "spark.shuffle.rdma.pinned.max=64m",
                "spark.shuffle.spill.numElementsForceSpillThreshold=200"))
        .answer();
  }

  /** The first application generates the tables, for which Spark 3.5 has too old a Guava. */
  @ParameterizedTest
  @Tag("nightly")
  @CsvSource({"3.5.9, 2.12, spark3.5, 0.12.0", "4.1.3, 2.13, spark4.1, 1.2.0"})
  void shouldFetchTheShufflesOfComet(String spark, String scala, String line, String version)
      throws Exception {
    Path home = new SparkHomes(INSTALLATION, new ProgressLog()).home(spark, scala);
    String comet = "comet-spark-" + line + "_" + scala;
    Script.copyArtifacts(
        "dependency:copy",
        "-Dartifact=org.apache.datafusion:" + comet + ":" + version,
        "-DoutputDirectory=" + directory);
    Path jar = directory.resolve(comet + "-" + version + ".jar");
    List<String> settings =
        List.of(
            "spark.driver.extraClassPath=" + jar,
            "spark.executor.extraClassPath=" + jar,
            "spark.shuffle.manager=org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager",
            "spark.memory.offHeap.enabled=true",
            "spark.memory.offHeap.size=512m");

    JobResult vanilla = query(INSTALLATION.sparkHome(), List.of("spark.shuffle.manager=sort"));
    String plugin = "org.apache.spark.CometPlugin";
    JobResult alone = query(home, with(settings, "spark.plugins=" + plugin));
    assertThat(alone.answer()).isNotEmpty().isEqualTo(vanilla.answer());
    for (String plugins : List.of(plugin + "," + PLUG_IN, PLUG_IN + "," + plugin)) {
      JobResult byRead = query(home, with(settings, "spark.plugins=" + plugins));
      assertThat(byRead.answer()).isEqualTo(alone.answer());
      assertThat(byRead.remoteBytes()).isPositive();
      assertThat(directory.resolve("output")).content().contains("CometExchange");
      assertThat(directory.resolve("errors"))
          .content()
          .contains("readBytes=" + byRead.remoteBytes() + " ", " tcpBytes=0 ");
    }
  }

  private JobResult query(Path home, List<String> settings) throws Exception {
    return runJob(
        home,
        CLUSTER,
        "tpch",
        with(
            settings,
            "spark.test.tables=" + directory.resolve("tables"),
            "spark.shuffle.rdma.engine=soft",
            "spark.shuffle.rdma.waits.factor=100",
            "spark.executor.memory=1g",
            "spark.shuffle.readHostLocalDisk=false",
            // Else small tables need no shuffle.
            "spark.sql.autoBroadcastJoinThreshold=-1"));
  }

  private JobResult runJob(Path home, String master, String job, List<String> settings)
      throws Exception {
    SparkSubmit.Outcome outcome = submit(home, master, job, settings);
    assertThat(outcome.exitCode()).as(outcome.errors()).isZero();
    return new ObjectMapper().readValue(directory.resolve("result.json").toFile(), JobResult.class);
  }

  private static List<String> with(List<String> settings, String... more) {
    return Stream.concat(settings.stream(), Stream.of(more)).toList();
  }

  /** Runs a job on Java 17: Spark 3.5 does not run on all later versions. */
  private SparkSubmit.Outcome submit(Path home, String master, String job, List<String> settings)
      throws Exception {
    Path java = MatrixCommand.javaHomes(INSTALLATION.project()).get(17);
    assumeTrue(java != null, "oldest Spark: install openjdk-17-jdk-headless");
    String jars = INSTALLATION.jarsToShip() + "," + INSTALLATION.jobs();
    List<String> command = new ArrayList<>(List.of("--master", master));
    command.addAll(List.of("--jars", jars));
    settings.forEach(setting -> command.addAll(List.of("--conf", setting)));
    command.addAll(List.of("--class", ClusterJob.class.getName()));
    command.add(JobFixture.jar(directory.resolve("job.jar")).toString());
    command.addAll(List.of(job, directory.resolve("result.json").toString()));
    return SparkSubmit.run(home, directory, Map.of("JAVA_HOME", java.toString()), command);
  }
}
