// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A benchmark by spark-submit, as docs/benchmarks.md has it for a user's own cluster. JobScriptsIT
 * runs the same job every day on a cluster of its own.
 */
@Tag("nightly")
@Timeout(300)
class SubmittedBenchmarkIT {
  @TempDir private Path directory;

  @Test
  void shouldCompareTheShufflesOfAJobOnTheClusterOfSparkSubmit() throws Exception {
    Path report = directory.resolve("groupby.json");

    SparkSubmit.Outcome outcome =
        SparkSubmit.runBenchmark(
            directory,
            List.of(),
            report,
            List.of("groupby", "--shapes", "4x4x4k", "--modes", "tuned,rdma"));

    assertThat(outcome.exitCode()).as(outcome.output() + outcome.errors()).isZero();
    assertThat(outcome.output()).contains("\ntuned ", "\nrdma ");
    JsonNode json = new ObjectMapper().readTree(report.toFile());
    assertThat(json.at("/cases/0/runs/1/bytes/read").asLong()).isPositive();
    JsonNode environment = json.at("/environment");
    assertThat(environment.at("/version").asText())
        .matches("[0-9].*, commit (unknown|[^ ]*[0-9a-f]{7,}(-dirty)?)");
  }
}
