// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.cluster.SparkSubmit.Outcome;
import org.sparkrdma.cluster.job.ClusterJob;
import org.sparkrdma.cluster.job.JobResult;

/** The commands of the plug-in's jar by {@code spark-submit --class}, with Spark's settings. */
@Timeout(120)
class SubmittedCommandsIT {
  private static final int NOT_USED = 1;
  private static final int WRONG_USAGE = 2;

  @TempDir private Path directory;

  @Test
  void shouldExplainTheHostOfTheDriverWithTheSettingsOfSparkSubmit() throws Exception {
    Outcome outcome = submit(List.of("--conf", "spark.shuffle.rdma.pined.max=1g"), "doctor");
    assertThat(outcome.output())
        .startsWith("RDMA will not be used: unknown setting: key=spark.shuffle.rdma.pined.max")
        .doesNotContain("\u001b");
    assertThat(outcome.exitCode()).isEqualTo(NOT_USED);
  }

  /** Logs as this Spark writes them: rolling, and compressed. */
  @Test
  void shouldEstimateByTheLogsOfApplications() throws Exception {
    Path logs = Files.createDirectory(directory.resolve("logs"));
    Path jar = JobFixture.jar(directory.resolve("job.jar"));
    Path own = Files.createDirectory(directory.resolve("job"));
    List<String> job = new ArrayList<>(List.of("--master", "local-cluster[2,1,1024]"));
    job.addAll(
        SparkSubmit.conf(
            "spark.shuffle.readHostLocalDisk=false",
            "spark.scheduler.minRegisteredResourcesRatio=1",
            "spark.eventLog.enabled=true",
            "spark.eventLog.dir=" + logs.toUri()));
    job.addAll(List.of("--jars", SparkSubmit.installation().plugIn().toString()));
    job.addAll(List.of("--class", ClusterJob.class.getName(), jar.toString()));
    job.addAll(List.of("shuffle", own.resolve("result.json").toString()));
    Outcome ran = SparkSubmit.run(own, job);
    assertThat(ran.exitCode()).as(ran.errors()).isZero();
    long remoteBytes =
        new ObjectMapper()
            .readValue(own.resolve("result.json").toFile(), JobResult.class)
            .remoteBytes();

    Outcome outcome =
        estimate(
            List.of("--conf", "spark.eventLog.dir=" + logs.toUri()), "--json", "--link", "25g");
    assertThat(outcome.exitCode()).as(outcome.errors()).isZero();
    JsonNode answer = new ObjectMapper().readTree(outcome.output());
    assertThat(answer.path("notRead")).isEmpty();
    JsonNode one = answer.path("applications").path(0);
    assertThat(one.path("name").asText()).isEqualTo("ClusterJob");
    assertThat(one.path("sparkVersion").asText()).startsWith("4.");
    assertThat(one.path("remoteBytes").asLong()).isPositive().isEqualTo(remoteBytes);
    assertThat(one.path("notes")).allMatch(note -> note.asText().startsWith("since Spark 4.1"));
    assertThat(one.path("verdict").asText()).isNotEqualTo("none");
    assertThat(one.path("low").asDouble()).isLessThanOrEqualTo(one.path("likely").asDouble());
    assertThat(one.path("likely").asDouble()).isLessThanOrEqualTo(one.path("high").asDouble());

    Outcome none = estimate(List.of(), directory.resolve("none").toString());
    assertThat(none.exitCode()).isEqualTo(WRONG_USAGE);
    assertThat(none.output()).isEmpty();
    assertThat(none.errors()).contains("Wrong value: key=LOG value=" + directory.resolve("none"));
  }

  /** With the jar's own main class. */
  private Outcome estimate(List<String> options, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("--master", "local", "--deploy-mode", "client"));
    command.addAll(options);
    command.addAll(List.of(SparkSubmit.installation().plugIn().toString(), "estimate"));
    command.addAll(List.of(arguments));
    return SparkSubmit.run(directory, command);
  }

  private Outcome submit(List<String> options, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("--class", "org.sparkrdma.shuffle.tools.Main"));
    command.addAll(options);
    command.add(SparkSubmit.installation().plugIn().toString());
    command.addAll(List.of(arguments));
    return SparkSubmit.run(directory, command);
  }
}
