// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.cluster.job.ClusterJob;
import org.sparkrdma.cluster.job.JobResult;
import org.sparkrdma.shuffle.links.LinkCheck;

/**
 * Jobs on a Spark of which a member has another name: the answer is Spark's, no attempt fails, and
 * one WARN names the member.
 */
@Execution(ExecutionMode.SAME_THREAD)
@Timeout(value = 300, threadMode = ThreadMode.SEPARATE_THREAD)
class LinksIT {
  private static final String PLUG_IN = "org.sparkrdma.shuffle.RdmaPlugin";
  private static final String NOT_BUILT_FOR = " is not one that the plug-in was built for: ";

  @TempDir private static Path directory;
  private static List<String> expected;
  private static Path job;
  private static Path agent;

  /** Where the member has another name. */
  private enum Place {
    EXECUTORS,
    DRIVER,
    BOTH
  }

  @BeforeAll
  static void prepare() throws Exception {
    JobFixture fixture = JobFixture.prepare(directory);
    job = fixture.jar();
    expected = fixture.small();
    agent = RenamingAgent.jar(directory.resolve("agent.jar"));
  }

  @ParameterizedTest
  @CsvSource({
    "canUseBatchFetch,  EXECUTORS, SortShuffleManager.canUseBatchFetch",
    "getIndexFile,      EXECUTORS, IndexShuffleBlockResolver.getIndexFile",
    "shuffleManager,    BOTH,      SparkEnv.shuffleManager",
    "setupEndpoint,     DRIVER,    RpcEnv.setupEndpoint",
  })
  void shouldUseTcpWhereAMemberIsMissing(String member, Place place, String named)
      throws Exception {
    SparkSubmit.Outcome outcome = run(member, place, PLUG_IN);

    JobResult result = result(outcome);
    assertThat(result.failedTasks()).isZero();
    assertThat(result.remoteBytes()).isPositive();
    assertThat(result.counter("rdma.bytes.read")).isZero();
    assertThat(outcome.errors().lines().filter(line -> line.contains(" WARN ")))
        .filteredOn(line -> line.contains("RDMA is not used"))
        .as(outcome.errors())
        .singleElement()
        .asString()
        .contains("Spark 4.2.0" + NOT_BUILT_FOR, named);
    if (place == Place.EXECUTORS) {
      assertThat(outcome.errors())
          .containsPattern(
              "Shuffle of this application: readBytes=0 .*tcpBytes="
                  + result.remoteBytes()
                  + " .*executorsWithoutRdma=.*"
                  + member);
    }
  }

  /**
   * What changes on Spark's master: the resolver is that of another trait, and the manager of map
   * outputs has another name.
   */
  @ParameterizedTest
  @ValueSource(strings = {PLUG_IN, PLUG_IN + ",org.sparkrdma.cluster.job.IdlePlugin"})
  void shouldReadByRdmaOnALaterSpark(String plugins) throws Exception {
    String later =
        "shuffleManager~blockingShuffleManager,"
            + "shuffleBlockResolver()Lorg/apache/spark/shuffle/ShuffleBlockResolver;~resolver";
    SparkSubmit.Outcome outcome = run(later, Place.BOTH, plugins);

    JobResult result = result(outcome);
    assertThat(result.failedTasks()).isZero();
    assertThat(outcome.errors())
        .contains(
            "Shuffle of this application: readBytes=" + result.remoteBytes() + " ", " tcpBytes=0 ")
        .doesNotContain(NOT_BUILT_FOR);
    assertThat(outcome.errors().contains("The shuffle manager is org.apache.spark."))
        .isEqualTo(!plugins.equals(PLUG_IN));
  }

  @Test
  void shouldHaveNoTabWhereAMemberOfItIsMissing() throws Exception {
    SparkSubmit.Outcome outcome = run("headerSparkPage", Place.DRIVER, PLUG_IN);

    JobFixture.assertAllByRead(result(outcome));
    assertThat(outcome.errors().lines().filter(line -> line.contains("WARN ApplicationMonitor")))
        .singleElement()
        .asString()
        .contains(
            "Spark's UI does not show the RDMA shuffle", NOT_BUILT_FOR, "UIUtils.headerSparkPage");
  }

  /** All members that can be renamed so that Spark itself still runs. */
  @Test
  @Tag("nightly")
  @Timeout(value = 3, unit = TimeUnit.HOURS, threadMode = ThreadMode.SEPARATE_THREAD)
  void shouldGiveTheSameAnswerWhereAnyMemberIsMissing() throws Exception {
    List<String> wrong = new ArrayList<>();
    List<String> table = new ArrayList<>();
    for (String member : members()) {
      SparkSubmit.Outcome outcome = run(member, Place.BOTH, PLUG_IN);
      boolean right = outcome.exitCode() == 0 && result(outcome).answer().equals(expected);
      boolean proves = right || run(member, Place.BOTH, "").exitCode() == 0;
      boolean warns = outcome.errors().contains(NOT_BUILT_FOR);
      table.add(
          member
              + ": "
              + (right ? "right" : proves ? "WRONG" : "Spark itself fails")
              + ", "
              + warns);
      if (!right && proves) {
        wrong.add(member + ": " + outcome.errors());
      }
    }
    Files.write(Path.of("target", "links.txt"), table);
    assertThat(wrong).isEmpty();
    assertThat(table).filteredOn(line -> line.contains("right")).hasSizeGreaterThan(20);
  }

  /** Names of methods of Spark that the plug-in uses after its start. */
  private static List<String> members() throws IOException {
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(
                LinkCheck.class.getResourceAsStream("links.tsv"), StandardCharsets.UTF_8))) {
      return reader
          .lines()
          .filter(line -> !line.matches("(start|history)\t.*"))
          .map(line -> line.split("\t", -1))
          .filter(fields -> fields.length > 4 && fields[2].startsWith("org.apache.spark."))
          .map(fields -> fields[3])
          .filter(name -> name.length() > 5 && !name.contains("<") && !name.contains("|"))
          .distinct()
          .sorted()
          .toList();
    }
  }

  private static JobResult result(SparkSubmit.Outcome outcome) throws IOException {
    assertThat(outcome.exitCode()).as(outcome.errors()).isZero();
    JobResult result =
        new ObjectMapper().readValue(directory.resolve("result.json").toFile(), JobResult.class);
    assertThat(result.answer()).isEqualTo(expected);
    return result;
  }

  private static SparkSubmit.Outcome run(String member, Place place, String plugins)
      throws Exception {
    String option = "-javaagent:" + agent + "=" + member;
    List<String> command = new ArrayList<>(List.of("--master", "local-cluster[2,1,1024]"));
    command.addAll(List.of("--jars", SparkSubmit.installation().plugIn().toString()));
    command.addAll(List.of("--conf", "spark.plugins=" + plugins));
    command.addAll(List.of("--conf", "spark.shuffle.rdma.engine=soft"));
    command.addAll(List.of("--conf", "spark.shuffle.readHostLocalDisk=false"));
    if (place != Place.DRIVER) {
      command.addAll(List.of("--conf", "spark.executor.extraJavaOptions=" + option));
    }
    if (place != Place.EXECUTORS) {
      command.addAll(List.of("--driver-java-options", option));
    }
    command.addAll(List.of("--class", ClusterJob.class.getName(), job.toString()));
    command.addAll(List.of("shuffle", directory.resolve("result.json").toString()));
    return SparkSubmit.run(SparkSubmit.installation().sparkHome(), directory, Map.of(), command);
  }
}
