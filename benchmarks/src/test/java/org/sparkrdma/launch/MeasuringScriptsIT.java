// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.launch.Script.Outcome;

/**
 * The commands of {@code ./bench} that measure something else than a job, on the jars as packaged:
 * the smallest run of each.
 */
@Timeout(400)
class MeasuringScriptsIT {
  /** Compiled by the build where it finds a JDK of 22 or newer. */
  private static final Path BENCHMARKS_FOR_JAVA_22 = Path.of("target/java22-classes/org");

  @TempDir private Path directory;

  /** A reader may use a quarter of the pinned memory and has 48 MiB in flight. */
  @Test
  void shouldMeasureBlockTransfer() throws Exception {
    Path report = directory.resolve("transfer.json");
    Outcome outcome =
        run(
            "bench transfer --sizes 64k --verify off --rounds 1 --warm-ups 1 --pinned 200m"
                + " --total 800m --maps 2 --report "
                + report);
    Script.assertSucceeded(outcome, "All bytes of RDMA came by READ");
    assertThat(recorded(report, "transfer --sizes 64k --verify off").at("/cases")).hasSize(1);
  }

  /**
   * The results of a report that names its command, the commit and the machine.
   *
   * @param command beginning of it, behind ./bench
   */
  private static JsonNode recorded(Path report, String command) throws IOException {
    JsonNode json = new ObjectMapper().readTree(report.toFile());
    assertThat(json.at("/command").asText())
        .startsWith("./bench " + command + " ")
        .doesNotContain(report.toString());
    assertThat(json.at("/environment/version").asText()).contains(", commit ");
    assertThat(json.at("/environment/host").asText()).contains(" processors, ");
    assertThat(json.at("/environment/spark").asText()).matches("\\d+\\.\\d+\\.\\d+");
    return json.at("/results");
  }

  @Test
  void shouldMeasureTheTimeOfOneRequest() throws Exception {
    Path report = directory.resolve("latency.json");
    Outcome outcome =
        run(
            "bench latency --sizes 4k --blocks 40 --batch 4 --rounds 1 --warm-ups 1 --report "
                + report);
    Script.assertSucceeded(outcome, "All bytes of RDMA came by READ");
    JsonNode one = recorded(report, "latency --sizes 4k --blocks 40 --batch 4").at("/cases/0");
    assertThat(one.at("/requests").asInt()).isEqualTo(10);
    assertThat(one.at("/rdmaP50Us/median").asDouble()).isPositive();
    assertThat(one.at("/rdmaBytes/median").asDouble()).isPositive();
    assertThat(outcome.output()).contains("bytes allocated for each block of 4k, batch of 4: ");
  }

  @Test
  void shouldMeasureThePlugInsOwnCeiling() throws Exception {
    Path report = directory.resolve("ceiling.json");
    Outcome outcome =
        run(
            "bench ceiling --sizes 64k --peers 2 --rounds 1 --warm-ups 1 --total 16m --report "
                + report);
    Script.assertSucceeded(outcome, "No byte of RDMA's blocks moved");
    assertThat(outcome.output()).contains("blocks of 64 KiB, peers 2, about ");
    JsonNode figures = recorded(report, "ceiling --sizes 64k --peers 2").at("/cases/0/figures");
    assertThat(figures.at("/AGENT_US/median").asDouble()).isPositive();
    assertThat(figures.at("/CPU_RATIO/median").asDouble()).isBetween(0.0, 1.0);
  }

  @Test
  void shouldMeasureRecovery() throws Exception {
    Outcome outcome =
        run(
            "bench recovery --size 1m --maps 4 --reducers 4 --kill-after 1 --rounds 1 --warm-ups 0");
    Script.assertSucceeded(outcome, "recovery, rdma / vanilla: ");
  }

  @Test
  void shouldMeasureServing() throws Exception {
    Outcome outcome = run("bench serve --sizes 4k,64k --pairs 3 --warm-ups 1");
    Script.assertSucceeded(outcome, "register + deregister");
  }

  @Test
  void shouldMeasureCopies() throws Exception {
    Path report = directory.resolve("copies.json");
    Outcome outcome =
        run(
            Map.of(),
            "bench copies --sizes 4k --total 1m --rounds 2 --warm-ups 1 --report " + report);
    Script.assertSucceeded(outcome, "mapping read before us");
    assertThat(outcome.output()).contains("of 64 files", "of one file");
    assertThat(recorded(report, "copies --sizes 4k --total 1m").at("/cases")).hasSize(2);
  }

  @Test
  void shouldMeasureTheVerbsLayer() throws Exception {
    assumeTrue(compilesForTheVerbsLayer(), "no C compiler or no headers of the verbs libraries");
    assumeTrue(Files.exists(BENCHMARKS_FOR_JAVA_22), "the build found no JDK of 22 or newer");
    Path results = directory.resolve("results.csv");
    Outcome outcome = run(Map.of(), "bench verbs -f 1 -wi 0 -i 1 -r 1 -rf csv -rff " + results);
    Script.assertSucceeded(outcome, "Benchmark");
    assertThat(outcome.output()).contains("ns/op").doesNotContain("<failure>");
    assertThat(results).content().contains(",java.lang.foreign", ",jffi");
  }

  /** It runs Maven. */
  @Test
  @Tag("nightly")
  void shouldSimulateGrowth() throws Exception {
    Path report = directory.resolve("growth.json");
    Outcome outcome = run(Map.of(), "bench growth --executors 30 --report " + report);
    assertThat(outcome.exitCode()).as(outcome.output()).isZero();
    assertThat(outcome.output())
        .contains("exponent from N = 10 to 30", "30 servers", "The page with plots is ")
        .containsPattern("connections +1\\.07 +1\\.07 +9 +29\n")
        .contains(
            "30 executors, 600 x 600 blocks of 64 KiB, 5 waves of 4 tasks, pinned.max 4,096 MiB: ");
    assertThat(directory.resolve("growth.html")).content().contains("<svg");
    assertThat(directory.resolve("growth.csv")).content().contains("\nwaves,30,");
    JsonNode recorded = new ObjectMapper().readTree(report.toFile());
    assertThat(recorded.at("/command").asText()).isEqualTo("./bench growth --executors 30");
    assertThat(recorded.at("/environment/version").asText()).contains(", commit ");
    assertThat(recorded.at("/results/growth/1/quantities/queue pairs created").asInt())
        .isEqualTo(29);
  }

  /** It builds both commits. */
  @Test
  @Tag("nightly")
  @Timeout(1_800)
  void shouldCompareTwoCommits() throws Exception {
    Path report = directory.resolve("regress.json");
    Outcome outcome =
        run(
            Map.of(),
            "bench regress --shapes 4x4x4k --pairs 5 --warm-ups 0 --work-dir %s --report %s HEAD~1 HEAD"
                .formatted(directory.resolve("work"), report));
    // With such short runs a ratio may well differ, and then the exit code is 1.
    assertThat(outcome.output())
        .containsAnyOf("No ratio is worse beyond its spread", "Ratios that are worse beyond");
    JsonNode result = new ObjectMapper().readTree(report.toFile());
    assertThat(result.at("/changes/0/headValues").size()).isEqualTo(5);
    assertThat(result.at("/changes/0/verdict").asText()).isNotEmpty();
  }

  private static boolean compilesForTheVerbsLayer() {
    return Files.exists(Path.of("/usr/include/rdma/rdma_cma.h"))
        && Files.exists(Path.of("/usr/include/infiniband/verbs.h"))
        && Files.isExecutable(Path.of("/usr/bin/cc"));
  }

  private Outcome run(String command) throws IOException, InterruptedException {
    return Script.runBriefly(command, directory.resolve("work"));
  }

  private static Outcome run(Map<String, String> variables, String command)
      throws IOException, InterruptedException {
    return Script.run(variables, command.split(" "));
  }
}
