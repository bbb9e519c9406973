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
import org.sparkrdma.benchmarks.jobs.plan.ShuffleMode;
import org.sparkrdma.launch.ScriptHelp;

@Timeout(60)
class ComparisonTest {
  private static final int MISUSE = 2;

  @TempDir private Path directory;

  @Test
  void shouldCallAChangeBeyondItsSpreadOnlyWhenTheQuartilesAreApart() {
    Comparison comparison = new Comparison(report(10, 5, 10, 20), report(10, 10, 10, 11));
    assertThat(comparison.lines().get(0).isBeyondSpread()).isFalse();
    Comparison changed = new Comparison(report(10, 5, 10, 5), report(10, 9, 10, 8));
    assertThat(changed.lines().get(0).isBeyondSpread()).isTrue();
    assertThat(changed.lines().get(0).change()).isBetween(1.69, 1.71);
    assertThat(changed.rows().get(1))
        .containsExactly(
            "2x2x4k",
            "rdma / vanilla",
            "wall",
            "0.50 (0.50..0.50)",
            "0.85 (0.83..0.88)",
            "1.70",
            "beyond spread");
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
    assertThat(compare(report, report, "--page", directory.toString())).isEqualTo(MISUSE);
  }

  @Test
  void shouldWriteAPageThatNeedsNoOtherFile() throws Exception {
    Path report = directory.resolve("a.json");
    Path page = directory.resolve("new/page.html");
    new ObjectMapper().writeValue(report.toFile(), report(10, 5, 10, 5));
    assertThat(compare(report, report, "--page", page.toString())).isZero();
    assertSelfContained(Files.readString(page));
  }

  @Test
  void shouldWriteJsonCsvAndAPageWithThePlots() throws Exception {
    BenchmarkFiles files = new BenchmarkFiles(directory.resolve("a.json"));
    assertThat(files.write(report(10, 5, 10, 5))).isEmpty();
    assertThat(directory.resolve("a.csv"))
        .content()
        .startsWith("job,shape,shuffle,round,")
        .contains("\ngroupby,2x2x4k,rdma,2,2,5.000,1.000,3.500,0.250,524288000,1048576,0,");
    String page = Files.readString(files.html());
    assertSelfContained(page);
    assertThat(page)
        .contains(
            "Shuffle benchmark: groupby", "./bench groupby", "\"labels\":[\"vanilla\",\"rdma\"]");
    assertThat(new ObjectMapper().readValue(files.json().toFile(), BenchmarkReport.class))
        .isEqualTo(report(10, 5, 10, 5));
  }

  @Test
  void shouldEscapeTextFromSettings() {
    HtmlPage page = new HtmlPage("<b>");
    page.table(List.of(List.of("a & b", "</script>")));
    page.chart("</script>", "s", List.of());
    assertThat(page.render())
        .contains("<title>&lt;b&gt;</title>", "<th>a &amp; b</th>", "\"\\u003c/script>\"")
        .containsOnlyOnce("const charts =");
  }

  private static void assertSelfContained(String page) {
    assertThat(page).contains("Chart.js v", "<canvas id=\"chart0\">");
    assertThat(page).doesNotContainPattern("(src|href)=\"");
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
