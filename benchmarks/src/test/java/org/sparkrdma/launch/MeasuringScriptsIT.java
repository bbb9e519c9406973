// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.launch.Script.Outcome;

/**
 * The commands of {@code ./bench} that measure something else than a job, on the jars as packaged:
 * the smallest run of each.
 */
@Timeout(400)
class MeasuringScriptsIT {
  @TempDir private Path directory;

  @Test
  void shouldMeasureBlockTransfer() throws Exception {
    Path report = directory.resolve("transfer.json");
    Outcome outcome =
        run(
            "bench transfer --sizes 4k,64k --copy --rounds 1 --warm-ups 0 --total 8m --report "
                + report);
    Script.assertSucceeded(outcome, "Blocks that found all copy buffers in use");
    JsonNode cases = cases(report);
    assertThat(cases).hasSize(2);
    assertThat(cases.at("/0/figures/throughput/median").asDouble()).isPositive();
    assertThat(cases.at("/0/verify").asText()).isEqualTo("adler32");
    assertThat(cases.at("/0/copy").asBoolean()).isTrue();
    Outcome chart = run("bench chart --out %s %s".formatted(directory, report));
    Script.assertSucceeded(
        chart, "Throughput, as a multiple of that with Spark alone: more is better");
    assertThat(directory.resolve("throughput.svg")).content().contains("Drawn from transfer.json");
  }

  /** The cases of a report that names the commit and the machine. */
  private static JsonNode cases(Path report) throws IOException {
    JsonNode json = new ObjectMapper().readTree(report.toFile());
    assertThat(json.at("/environment/version").asText()).contains(", commit ");
    assertThat(json.at("/environment/host").asText()).contains(" processors, ");
    assertThat(json.at("/environment/spark").asText())
        .matches("\\d+\\.\\d+\\.\\d+, Scala \\d+\\.\\d+\\.\\d+");
    return json.at("/cases");
  }

  /**
   * The time of one request, the first request of new executors, the plug-in's own ceiling, and
   * Spark's server without reads of the index.
   */
  @ParameterizedTest
  @Tag("nightly")
  @CsvSource({
    "--latency --sizes 4k --batch 4 --warm-ups 0, All bytes of RDMA came by READ, rdmaP50Us",
    "--first --sizes 4k, All bytes of RDMA came by READ, rdmaFirstMs",
    "--ceiling --sizes 64k --warm-ups 1 --total 16m, No byte of RDMA, clientUs",
    "--index-in-memory --sizes 4k --warm-ups 0 --total 8m, All bytes of RDMA, nettyGbPerSecond"
  })
  void shouldMeasureWithEachOption(String options, String sentence, String figure)
      throws Exception {
    Path report = directory.resolve("report.json");
    Outcome outcome = run("bench transfer " + options + " --rounds 1 --report " + report);
    Script.assertSucceeded(outcome, sentence);
    assertThat(cases(report).at("/0/figures/" + figure + "/median").asDouble()).isPositive();
  }

  private Outcome run(String command) throws IOException, InterruptedException {
    return Script.runBriefly(command, directory.resolve("work"));
  }
}
