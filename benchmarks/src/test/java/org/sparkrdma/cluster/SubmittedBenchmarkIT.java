// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.benchmarks.jobs.ShuffleBenchmark;
import org.sparkrdma.launch.Installation;

/** A benchmark by spark-submit, as docs/benchmarks.md has it for a user's own cluster. */
@Timeout(300)
class SubmittedBenchmarkIT {
  @TempDir private Path directory;

  @Test
  void shouldCompareTheShufflesOfAJobOnTheClusterOfSparkSubmit() throws Exception {
    Installation installation = SparkSubmit.installation();
    Path picocli = installation.jobs().resolveSibling("job-jars").resolve("picocli-4.7.7.jar");
    Path report = directory.resolve("groupby.json");

    SparkSubmit.Outcome outcome =
        SparkSubmit.run(
            directory,
            List.of(
                "--master",
                "local-cluster[2,1,1024]",
                "--jars",
                installation.plugIn() + "," + picocli,
                "--conf",
                "spark.shuffle.readHostLocalDisk=false",
                "--conf",
                "spark.shuffle.rdma.engine=soft",
                "--class",
                ShuffleBenchmark.class.getName(),
                installation.jobs().toString(),
                "groupby",
                "--shapes",
                "4x4x4k",
                "--modes",
                "tuned,rdma",
                "--rounds",
                "1",
                "--warm-ups",
                "0",
                "--report",
                report.toString()));

    assertThat(outcome.exitCode()).as(outcome.output() + outcome.errors()).isZero();
    assertThat(outcome.output()).contains("rdma / tuned");
    JsonNode json = new ObjectMapper().readTree(report.toFile());
    assertThat(json.at("/cases/0/runs/1/bytes/read").asLong()).isPositive();
    JsonNode environment = json.at("/environment");
    assertThat(environment.at("/version").asText())
        .matches("[0-9].*, commit (unknown|[^ ]*[0-9a-f]{7,}(-dirty)?)");
    assertThat(environment.at("/jvm").asText()).contains("-Xmx1024M");
    assertThat(environment.at("/settings").toString())
        .contains("spark.shuffle.rdma.engine")
        .doesNotContain("maxReqsInFlight");
    assertThat(environment.at("/shuffleSettings/tuned/spark.reducer.maxReqsInFlight").asInt())
        .isEqualTo(256);
  }
}
