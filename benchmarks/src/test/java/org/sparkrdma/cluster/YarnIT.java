// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.cluster.job.ClusterJob;
import org.sparkrdma.cluster.job.JobResult;
import org.sparkrdma.executors.ChecksAgent;
import org.sparkrdma.executors.ExecutorChecks;
import org.sparkrdma.executors.LeakLog;
import org.sparkrdma.launch.CheckedExecutors;
import org.sparkrdma.launch.Script;

/**
 * The plug-in on YARN, on the loopback engine, as docs/install/yarn.md. Each application has one
 * executor on each of two NodeManagers.
 */
@Execution(ExecutionMode.SAME_THREAD)
@Timeout(value = 600, threadMode = ThreadMode.SEPARATE_THREAD)
class YarnIT {
  private static final String PLUG_IN = "org.sparkrdma.shuffle.RdmaPlugin";

  private static final Pattern APPLICATION = Pattern.compile("application_[0-9]+_[0-9]+");
  private static final String JVM =
      "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:MetaspaceSize=128m "
          + ChecksAgent.options().replace("\"", "")
          + " ";
  private static final String OF_OVERHEAD = "1/2 of spark.executor.memoryOverhead above 256 MiB: ";
  private static final Pattern HIGHEST_PINNED =
      Pattern.compile("Shuffle of this application: .*highestPinnedBytes=([0-9]+)");

  private static final long MIB = 1L << 20;

  /** More than the container has, and the JVM by default allows. */
  private static final long EXCESS_MIB = 1280;

  @TempDir private static Path directory;
  private static MiniYarn yarn;
  private static Path job;
  private static Path sparkConf;

  /** A finished application. */
  private record Application(JobResult result, String driver, String logs) {}

  @BeforeAll
  @Timeout(value = 600, threadMode = ThreadMode.SEPARATE_THREAD)
  static void startCluster() throws Exception {
    // A setting of the application takes precedence over these.
    yarn =
        MiniYarn.start(
            directory,
            List.of(
                JVM + "-Dspark.shuffle.rdma.engine=soft",
                JVM + "-Dspark.shuffle.rdma.engine=disni"),
            0);
    job = JobFixture.jar(directory.resolve("job.jar"));
    sparkConf = Files.createDirectory(directory.resolve("spark-conf"));
    Files.writeString(
        sparkConf.resolve("spark-defaults.conf"),
        Files.readString(Path.of("../conf/yarn.conf.template"))
            .replace(
                "/path/to/spark-rdma-shuffle.jar", SparkSubmit.installation().plugIn().toString())
            // This file takes precedence over the options of the JVM that have the checks.
            .replace(PLUG_IN, ExecutorChecks.class.getName() + "," + PLUG_IN));
  }

  @AfterAll
  @Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
  static void stopCluster() {
    if (yarn != null) {
      yarn.close();
    }
  }

  @Test
  void shouldReadEveryRemoteBlockByReadWithTheDriverInAContainer() throws Exception {
    Application application = runShuffle("cluster");

    assertReported(application.logs());
  }

  @Test
  @Tag("nightly")
  void shouldReadEveryRemoteBlockByReadWithTheDriverHere() throws Exception {
    Application application = runShuffle("client");

    assertReported(application.driver());
  }

  private static void assertReported(String driver) {
    assertThat(driver)
        // The checks of an executor may last longer than the job on a busy machine.
        .containsPattern("Checks of executor [0-9]+ on .*: RDMA is used")
        .contains("Shuffle of this application: readBytes=");
  }

  private static Application runShuffle(String deployMode) throws Exception {
    Application application = run(deployMode, "shuffle", "spark.shuffle.rdma.doctor=true");

    assertThat(application.result().answer()).isEqualTo(ClusterJob.small());
    JobFixture.assertAllByRead(application.result());
    assertThat(application.logs().lines().filter(line -> line.contains("RDMA is up: device soft0")))
        .hasSize(2)
        .allMatch(line -> line.contains(OF_OVERHEAD + "768 MiB"));
    return application;
  }

  @Test
  @Tag("nightly")
  void shouldKeepThePoolInTheMemoryOfTheContainer() throws Exception {
    Application application =
        run(
            "client",
            "memory",
            "spark.executor.memoryOverhead=768m",
            "spark.shuffle.rdma.serve=window",
            "spark.reducer.maxSizeInFlight=128m",
            "spark.shuffle.compress=false",
            "spark.executor.extraJavaOptions=-XX:MaxDirectMemorySize=2g",
            "spark.test.excess.bytes=" + EXCESS_MIB * MIB);
    JobResult result = application.result();

    assertThat(application.logs().lines().filter(line -> line.contains("RDMA is up: device soft0")))
        .hasSizeGreaterThanOrEqualTo(2)
        .allMatch(line -> line.contains("may pin 256 MiB"))
        .allMatch(line -> line.contains(OF_OVERHEAD + "256 MiB"));
    assertThat(result.answer()).isEqualTo(ClusterJob.large());
    JobFixture.assertAllByRead(result);
    assertThat(highestPinned(application.driver())).isBetween(128 * MIB, 256 * MIB);
    assertThat(result.removedExecutors()).isEmpty();
    // The NodeManager does check the memory.
    assertThat(result.removedAtEnd()).singleElement().asString().contains("physical memory");
  }

  /**
   * YARN sizes containers of a profile without memoryOverhead by that of the application, and Spark
   * tells their executors the memory of the profile.
   */
  @Test
  @Tag("nightly")
  void shouldDeriveTheOverheadOfAProfileFromTheMemoryOfTheApplication() throws Exception {
    Path withOverhead = sparkConf;
    try {
      sparkConf = Files.createDirectory(directory.resolve("spark-conf-of-factor"));
      List<String> lines = Files.readAllLines(withOverhead.resolve("spark-defaults.conf"));
      Files.write(
          sparkConf.resolve("spark-defaults.conf"),
          lines.stream().filter(line -> !line.contains("memoryOverhead ")).toList());
      Application application =
          run(
              "client",
              "profile",
              "spark.executor.memoryOverheadFactor=1.5",
              "spark.dynamicAllocation.enabled=true",
              "spark.dynamicAllocation.shuffleTracking.enabled=true",
              "spark.dynamicAllocation.maxExecutors=2");

      assertThat(application.result().answer()).isEqualTo(ClusterJob.small());
      assertThat(application.logs())
          .containsPattern("for ResourceProfile Id: 0, .* 1280 MB memory")
          .containsPattern("for ResourceProfile Id: 1, .* 1536 MB memory");
      assertThat(
              application.logs().lines().filter(line -> line.contains("RDMA is up: device soft0")))
          // The second one of the profile may come too late.
          .hasSizeBetween(3, 4)
          .allMatch(line -> line.contains("may pin 256 MiB"))
          .allMatch(line -> line.contains(OF_OVERHEAD + "256 MiB"));
    } finally {
      sparkConf = withOverhead;
    }
  }

  @ParameterizedTest
  @Tag("nightly")
  @ValueSource(strings = {"SIGTERM", "SIGKILL"})
  void shouldGiveTheRightAnswerWhenAContainerEnds(String signal) throws Exception {
    Application application = run("client", signal);
    JobResult result = application.result();

    assertThat(result.answer()).isEqualTo(ClusterJob.wide());
    assertThat(result.removedExecutors()).hasSize(1);
    assertThat(result.counter("rdma.bytes.read")).isPositive();
  }

  /** Four containers of one NodeManager, which has the shuffle service. */
  @Test
  @Tag("nightly")
  void shouldReadBlocksOfEndedContainersByRead() throws Exception {
    int port = StandaloneCluster.freePort();
    MiniYarn twoNodes = yarn;
    Path own = Files.createTempDirectory(directory, "service");
    try (MiniYarn oneNode = MiniYarn.start(own, List.of(JVM), port)) {
      yarn = oneNode;
      Application application =
          run(
              "client",
              "stages",
              "spark.executor.memoryOverhead=768m",
              "spark.shuffle.service.enabled=true",
              "spark.shuffle.service.port=" + port,
              "spark.dynamicAllocation.enabled=true",
              "spark.dynamicAllocation.initialExecutors=4",
              "spark.dynamicAllocation.minExecutors=2",
              "spark.dynamicAllocation.maxExecutors=4",
              "spark.dynamicAllocation.executorIdleTimeout=1s");
      JobResult result = application.result();
      assertThat(result.answer().subList(0, 8)).isEqualTo(ClusterJob.small());
      assertThat(result.answer().subList(8, 16)).isEqualTo(ClusterJob.small());
      assertThat(result.failedTasks()).isZero();
      long tcp = result.counter("tcp.bytes.read");
      assertThat(result.counter("ended.bytes.read")).isGreaterThan(9 * tcp);
      assertThat(application.logs()).doesNotContain("Quarantining");
    } finally {
      yarn = twoNodes;
    }
  }

  /** Maximum of what an executor had pinned, from the driver's line about the application. */
  private static long highestPinned(String driver) {
    Matcher bytes = HIGHEST_PINNED.matcher(driver);
    assertThat(bytes.find()).as(driver).isTrue();
    return Long.parseLong(bytes.group(1));
  }

  /** Runs an application that must succeed. */
  private static Application run(String deployMode, String name, String... settings)
      throws Exception {
    Path own = Files.createTempDirectory(directory, name);
    Path answer = own.resolve("result.json");
    CheckedExecutors executors = CheckedExecutors.in(own);
    SparkSubmit.Outcome outcome = submit(own, executors, answer, deployMode, name, settings);
    String driver = outcome.output() + outcome.errors();
    String logs = logs(driver);
    assertThat(outcome.exitCode()).as(driver + logs).isZero();
    assertThat(executors.assertNoLeaks().ran()).as(driver).isPositive();
    CheckedExecutors.assertNoViolations(logs.lines().toList());
    return new Application(
        new ObjectMapper().readValue(answer.toFile(), JobResult.class), driver, logs);
  }

  private static SparkSubmit.Outcome submit(
      Path own,
      CheckedExecutors executors,
      Path answer,
      String deployMode,
      String name,
      String... settings)
      throws Exception {
    List<String> arguments = new ArrayList<>();
    arguments.addAll(List.of("--master", "yarn", "--deploy-mode", deployMode));
    arguments.addAll(
        SparkSubmit.conf(
            "spark.yarn.jars=" + yarn.jarsOfSpark(),
            "spark.yarn.maxAppAttempts=1",
            "spark.yarn.appMasterEnv." + LeakLog.VARIABLE + "=" + executors.results(),
            "spark.executorEnv." + LeakLog.VARIABLE + "=" + executors.results(),
            "spark.driver.memory=512m",
            "spark.executor.memory=512m",
            "spark.shuffle.rdma.engine=soft",
            // On a busy machine blocks would come by TCP, too.
            "spark.shuffle.rdma.waits.factor=100",
            "spark.executor.instances=2",
            "spark.scheduler.minRegisteredResourcesRatio=1",
            "spark.scheduler.maxRegisteredResourcesWaitingTime=100s",
            "spark.shuffle.readHostLocalDisk=false",
            "spark.ui.enabled=false"));
    arguments.addAll(SparkSubmit.conf(settings));
    arguments.addAll(List.of("--class", ClusterJob.class.getName()));
    arguments.addAll(List.of(job.toString(), name, answer.toString()));
    return yarn.submit(own, sparkConf, Script.briefly(executors), arguments);
  }

  /** Logs of the containers of the application that the driver's log names. */
  private static String logs(String driver) throws Exception {
    Matcher id = APPLICATION.matcher(driver);
    assertThat(id.find()).as(driver).isTrue();
    return yarn.logs(id.group());
  }
}
