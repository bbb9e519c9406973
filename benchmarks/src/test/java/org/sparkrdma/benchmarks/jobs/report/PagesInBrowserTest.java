// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.benchmarks.growth.Growth;
import org.sparkrdma.benchmarks.growth.GrowthPage;
import org.sparkrdma.benchmarks.growth.GrowthReports;
import org.sparkrdma.benchmarks.jobs.environment.RecordedReport;
import org.sparkrdma.benchmarks.jobs.plan.ShuffleMode;

/** The pages as a browser without network draws them. */
@Tag("slow")
@Timeout(400)
class PagesInBrowserTest {
  private static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();
  private static final int MAX_PICTURE_BYTES = 200 << 10;

  /** Pixels of axes, texts and bars in the smallest chart are many more. */
  private static final int MIN_PIXELS = 2_000;

  /** Writes below the page how many pixels of each canvas are drawn. */
  private static final String COUNT_PIXELS =
      """
      <script>
      for (const canvas of document.querySelectorAll('canvas')) {
        const pixels = canvas.width * canvas.height === 0 ? []
            : canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        let drawn = 0;
        for (let i = 3; i < pixels.length; i += 4) {
          drawn += pixels[i] > 0 ? 1 : 0;
        }
        const result = document.createElement('p');
        result.textContent = 'drawn ' + canvas.id + ' ' + drawn;
        document.body.append(result);
      }
      </script>
      </body>
      """;

  /** Writes below the page what each plot has inside of its frame. */
  private static final String MEASURE_PLOTS =
      """
      <script>
      for (const svg of document.querySelectorAll('svg')) {
        const frame = svg.getBoundingClientRect();
        const inside = name => [...svg.querySelectorAll(name)].map(each => each.getBoundingClientRect())
            .filter(box => box.width > 0 && box.left >= frame.left && box.right <= frame.right
                && box.top >= frame.top && box.bottom <= frame.bottom).length;
        const result = document.createElement('p');
        result.textContent = 'plotted ' + inside('circle') + ' circles, ' + inside('text') + ' texts inside';
        document.body.append(result);
      }
      </script>
      </body>
      """;

  private static final Pattern PLOTTED = Pattern.compile("<p>plotted ([^<]+)</p>");

  /**
   * Writes below the page the widths of document and window, and the numbers of tables that are
   * wider than their frame: those that scroll in it, and those that do not.
   */
  private static final String MEASURE_WIDTHS =
      """
      <script>
      const wide = [...document.querySelectorAll('table')].map(table => table.parentElement)
          .filter(frame => frame.scrollWidth > frame.clientWidth);
      const scrolled = wide.filter(frame => getComputedStyle(frame).overflowX === 'auto').length;
      const root = document.documentElement;
      const widths = document.createElement('p');
      widths.textContent = 'widths ' + [root.scrollWidth, root.clientWidth, scrolled, wide.length - scrolled].join(' ');
      document.body.append(widths);
      </script>
      </body>
      """;

  private static final Pattern WIDTHS =
      Pattern.compile("<p>widths (\\d+) (\\d+) (\\d+) (\\d+)</p>");

  /** Results of {@link #MEASURE_WIDTHS}, in pixels. */
  private record Widths(int document, int window, int scrolledTables, int cutTables) {}

  private static final Pattern DRAWN = Pattern.compile("<p>drawn chart\\d+ (\\d+)</p>");

  @TempDir private Path directory;

  @BeforeEach
  void requireBrowser() {
    assumeTrue(Files.isExecutable(Browser.PROGRAM), "no " + Browser.PROGRAM);
  }

  @Test
  void shouldDrawEveryChartOfAReport() throws IOException {
    assertDrawn(BenchmarkPage.of(report()), Metric.values().length);
  }

  @Test
  void shouldDrawEveryChartOfAComparison() throws IOException {
    Comparison comparison = new Comparison(report(), report());
    assertDrawn(comparison.page(), comparison.lines().size());
  }

  @Test
  void shouldFindAnEmptyChartAndAnErrorOfAScript() throws IOException {
    String page = BenchmarkPage.of(report());
    Browser.Loaded empty =
        load(page.replace("const charts = [", "const charts = []; const none = ["));
    assertThat(drawn(empty)).hasSize(Metric.values().length).containsOnly(0);

    Browser.Loaded failing = load(page.replace("const charts = ", "const charts = missing + "));
    assertThat(failing.console())
        .anySatisfy(line -> assertThat(line).contains("missing is not defined"));
  }

  @Test
  void shouldDrawEveryPlotOfASimulatedGrowth() throws IOException {
    RecordedReport<Growth> report = GrowthReports.report();
    String page = GrowthPage.of(report);
    int shuffles = report.results().growth().size();
    String whole = "%d circles, %d texts inside".formatted(shuffles, 2 * shuffles + 2);
    assertThat(plotted(load(page)))
        .hasSize(report.results().exponents().size())
        .containsOnly(whole);

    String cut = page.replaceFirst("<text x=\"\\d", "<text x=\"40");
    assertThat(plotted(load(cut)).get(0)).isNotEqualTo(whole);
  }

  /** A table of a recorded report is wider than any window here, and text in it is longer. */
  @Test
  void shouldScrollWideTablesAndNotThePage() throws IOException {
    BenchmarkReport groupby = recorded("groupby-1132514.json");
    String page = BenchmarkPage.of(groupby);
    for (String each :
        List.of(
            page,
            new Comparison(groupby, recorded("service-9c80255.json")).page(),
            GrowthPage.of(GrowthReports.report()))) {
      for (int width : new int[] {1_300, 600}) {
        Widths widths = widths(each, width);
        assertThat(widths.document()).isLessThanOrEqualTo(widths.window());
        assertThat(widths.cutTables()).isZero();
      }
    }
    assertThat(widths(page, 600).scrolledTables()).isPositive();

    String wide = page.replace(".scroll { overflow-x: auto;", ".scroll {");
    assertThat(widths(wide, 600).document()).isGreaterThan(600);
    String cut = page.replace(".scroll { overflow-x: auto;", ".scroll { overflow-x: hidden;");
    assertThat(widths(cut, 600).cutTables()).isPositive();
  }

  private Widths widths(String page, int width) throws IOException {
    Path file = write(page.replace("</body>", MEASURE_WIDTHS));
    Matcher found = WIDTHS.matcher(new Browser(directory).load(file, width).document());
    assertThat(found.find()).isTrue();
    return new Widths(
        Integer.parseInt(found.group(1)),
        Integer.parseInt(found.group(2)),
        Integer.parseInt(found.group(3)),
        Integer.parseInt(found.group(4)));
  }

  @Test
  void shouldDrawARecordedReportAndComparisonLikeThePicturesOfTheDocumentation()
      throws IOException {
    BenchmarkReport groupby = recorded("groupby-1132514.json");
    BenchmarkReport service = recorded("service-9c80255.json");
    String page = BenchmarkPage.of(groupby);
    String comparison = new Comparison(groupby, service).page();
    assertDrawn(page, 10);
    assertDrawn(comparison, 10);
    assertPicture(page, "benchmark-report.png", 1_000);
  }

  private void assertPicture(String page, String name, int height) throws IOException {
    Path picture = directory.resolve(name);
    new Browser(directory).savePicture(write(page), picture, 1_300, height);
    assertThat(Files.size(picture)).isBetween(20_000L, (long) MAX_PICTURE_BYTES);
  }

  private static BenchmarkReport recorded(String name) throws IOException {
    return new ObjectMapper()
        .readValue(PROJECT.resolve("benchmarks/results/" + name).toFile(), BenchmarkReport.class);
  }

  private void assertDrawn(String page, int charts) throws IOException {
    Browser.Loaded loaded = load(page);
    assertThat(loaded.console()).isEmpty();
    assertThat(drawn(loaded))
        .hasSize(charts)
        .allSatisfy(pixels -> assertThat(pixels).isGreaterThan(MIN_PIXELS));
  }

  /** Number of drawn pixels of each chart. */
  private static List<Integer> drawn(Browser.Loaded loaded) {
    return DRAWN
        .matcher(loaded.document())
        .results()
        .map((MatchResult result) -> Integer.parseInt(result.group(1)))
        .toList();
  }

  private static List<String> plotted(Browser.Loaded loaded) {
    assertThat(loaded.console()).isEmpty();
    return PLOTTED
        .matcher(loaded.document())
        .results()
        .map((MatchResult result) -> result.group(1))
        .toList();
  }

  private Browser.Loaded load(String page) throws IOException {
    String measured = page.replace("</body>", COUNT_PIXELS).replace("</body>", MEASURE_PLOTS);
    return new Browser(directory).load(write(measured));
  }

  private Path write(String page) throws IOException {
    return Files.writeString(directory.resolve("page.html"), page);
  }

  /** Three rounds of two shuffles. */
  private static BenchmarkReport report() {
    List<RunResult> runs = new ArrayList<>();
    for (int round = 1; round <= 3; round++) {
      runs.add(BenchmarkReports.run(ShuffleMode.VANILLA, round, 10 + round, 4, Map.of()));
      runs.add(BenchmarkReports.run(ShuffleMode.RDMA, round, 8 + round, 1, Map.of()));
    }
    return BenchmarkReports.of(
        3,
        CaseReport.of("2x2x4k", "4 blocks", List.of(ShuffleMode.VANILLA, ShuffleMode.RDMA), runs));
  }
}
