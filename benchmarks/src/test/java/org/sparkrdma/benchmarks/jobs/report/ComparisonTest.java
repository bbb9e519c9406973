// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.benchmarks.jobs.CompareCommand;
import org.sparkrdma.benchmarks.jobs.environment.Environment;
import org.sparkrdma.benchmarks.jobs.plan.BenchmarkPlan;
import org.sparkrdma.benchmarks.jobs.plan.ShuffleMode;
import org.sparkrdma.launch.ScriptHelp;

@Timeout(60)
class ComparisonTest {
  private static final int MISUSE = 2;

  @TempDir private Path directory;

  @Test
  void shouldJudgeTheRoundsAndNotTheirQuartiles() {
    Comparison few = new Comparison(report(10, 5, 10, 5), report(10, 9, 10, 8));
    assertThat(few.rows().get(1))
        .containsExactly(
            "2x2x4k",
            "rdma / vanilla",
            "wall",
            "0.50 (0.50..0.50)",
            "0.85 (0.83..0.88)",
            "1.70",
            "too few rounds");
    double[] fast = {10, 5, 10, 5.2, 10, 5.1, 10, 5.3, 10, 5.4};
    double[] slow = {10, 9, 10, 8, 10, 8.5, 10, 7, 10, 7.5};
    double[] mixed = {10, 9, 10, 8, 10, 5.25, 10, 7, 10, 7.5};
    assertThat(verdict(fast, slow)).isEqualTo(Verdict.WORSE);
    assertThat(verdict(slow, fast)).isEqualTo(Verdict.BETTER);
    // The quartiles are apart.
    assertThat(verdict(fast, mixed)).isEqualTo(Verdict.WITHIN_SPREAD);
  }

  private static Verdict verdict(double[] first, double[] second) {
    return new Comparison(report(first), report(second)).lines().get(0).verdict();
  }

  @Test
  void shouldNameOtherDifferencesBetweenTheReports() {
    BenchmarkReport first = report(10, 5);
    assertThat(new Comparison(first, first).differences()).hasSize(1);
    BenchmarkPlan plan = first.plan();
    Environment environment = first.environment();
    BenchmarkReport second =
        new BenchmarkReport(
            new BenchmarkPlan(
                plan.job(), plan.shapes(), plan.modes(), plan.rounds(), 2, "", "another"),
            new Environment(
                "another date",
                null,
                environment.spark(),
                environment.java(),
                environment.host(),
                7,
                Map.of("spark.executor.cores", "8", "spark.shuffle.service.port", "7")),
            first.cases());

    Comparison comparison = new Comparison(first, second);

    assertThat(comparison.differences().stream().skip(1))
        .containsExactly(
            List.of("--warm-ups", "5", "2"),
            List.of("plug-in", "1.0, commit 0123456789", "-"),
            List.of("spark.executor.cores", "1", "8"));
  }

  @Test
  void shouldHaveEveryOptionInTheHelpOfTheScript() throws Exception {
    ScriptHelp.assertExplains("bench compare", CompareCommand.commandLine(), "default "::concat);
  }

  @Test
  void shouldRefuseAFileThatIsNoReport() throws Exception {
    Path report = directory.resolve("a.json");
    new ObjectMapper().writeValue(report.toFile(), report(10, 5, 10, 5));
    Path other = Files.writeString(directory.resolve("b.json"), "{\"plan\":1}");
    assertThat(compare(report, directory.resolve("none.json"))).isEqualTo(MISUSE);
    assertThat(compare(report, other)).isEqualTo(MISUSE);
    assertThat(compare(report, report)).isZero();
  }

  private int compare(Path first, Path second, String... more) {
    List<String> all =
        new ArrayList<>(
            List.of("--project", "p", "--work-dir", "w", first.toString(), second.toString()));
    all.addAll(List.of(more));
    return CompareCommand.commandLine().execute(all.toArray(new String[0]));
  }

  /** Two rounds, each with a time of vanilla and one of the plug-in. */
  private static BenchmarkReport report(double... seconds) {
    List<RunResult> runs = new ArrayList<>();
    for (int i = 0; i < seconds.length; i += 2) {
      int round = i / 2 + 1;
      runs.add(BenchmarkReports.run(ShuffleMode.VANILLA, round, seconds[i], 2, Map.of()));
      runs.add(BenchmarkReports.run(ShuffleMode.RDMA, round, seconds[i + 1], 1, Map.of()));
    }
    return BenchmarkReports.of(
        seconds.length / 2,
        CaseReport.of("2x2x4k", "4 blocks", List.of(ShuffleMode.VANILLA, ShuffleMode.RDMA), runs));
  }
}
