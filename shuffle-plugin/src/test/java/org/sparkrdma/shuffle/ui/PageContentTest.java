// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.figures.ApplicationFigures;
import org.xml.sax.InputSource;

class PageContentTest {
  private static final String SCRIPT = "<script>alert('1')</script>\"&";

  private final ApplicationFigures figures = new ApplicationFigures(true);

  @Test
  void shouldEscapeAllThatExecutorsSend() throws Exception {
    figures.note(SCRIPT);
    figures.start(SCRIPT, SCRIPT);
    figures.report(
        SCRIPT,
        Map.of(
            "state",
            SCRIPT,
            "reasons",
            SCRIPT,
            "engine",
            SCRIPT,
            "device",
            SCRIPT,
            "addresses",
            SCRIPT,
            "speed",
            SCRIPT,
            "fallback." + SCRIPT,
            3L));
    figures.remove(SCRIPT, SCRIPT);
    figures.report("2", Map.of("state", "up"));
    figures.addTask("2", 4, 1, 1);
    String page = page(SCRIPT, false);
    assertThat(page).doesNotContain("<script").contains("&lt;script&gt;alert(&#39;1&#39;)");
    // Well-formed, so no text has become an element or has ended an attribute.
    var document =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new InputSource(new StringReader(page)));
    assertThat(document.getElementsByTagName("script").getLength()).isZero();
  }

  @Test
  void shouldCountTheBytesOfAStageAsTcpWhereNoExecutorReports() {
    figures.addTask("1", 3, 3_072, 1_024);
    assertThat(stage(3)).endsWith("3.0 KiB", "0 B", "3.0 KiB", "1.0 KiB");
    figures.report("1", Map.of("state", "up"));
    assertThat(stage(3)).endsWith("3.0 KiB", "0 B", "0 B", "1.0 KiB").contains("–");
  }

  @Test
  void shouldCountTheBytesOfExecutorsThatNeverReportAsTcpEverywhere() {
    figures.report("1", Map.of("state", "up", "device", "mlx5_0", "read", 2_048L, "tcp", 512L));
    figures.report("1", Map.of("stages", List.of(1L, 3L, 2_048L, 0L, 512L)));
    figures.addTask("1", 3, 2_560, 0);
    figures.addTask("2", 3, 1_024, 0);
    assertThat(stage(3)).endsWith("3.5 KiB", "2.0 KiB", "1.5 KiB", "0 B");
    assertThat(page()).contains("1.5 KiB over TCP");
    assertThat(figures.totals().summary()).startsWith("readBytes=2048 copiedBytes=0 tcpBytes=1536");
  }

  /** Cells of the stage's row. */
  private List<String> stage(int stageId) {
    String page = page();
    String table = page.substring(page.indexOf("rdma-stages"));
    int row = table.indexOf(">" + stageId + "</a></td>");
    return Pattern.compile(">([^<]*)</td>")
        .matcher(table.substring(row, table.indexOf("</tr>", row)))
        .results()
        .skip(1)
        .map(cell -> cell.group(1))
        .toList();
  }

  @Test
  void shouldShowExecutorsWithoutRdmaFirstAndEndedOnesFoldedAndHowManyThereAre() {
    for (int i = 0; i < 60; i++) {
      String state = i == 58 ? "off" : "up";
      figures.report("" + i, Map.of("state", state, "addresses", "192.0.2.1:7, 192.0.2.2:8"));
    }
    figures.remove("0", "idle");
    assertThat(page())
        .containsSubsequence("<tr><td>58</td>", "<tr><td>1</td>", "<details>", "<tr><td>0</td>")
        .contains("Ended executors: 1")
        .contains("50 of 59 are shown. <a href=\"?all=true#rdma-executors\">")
        .contains("<span title=\"192.0.2.1:7, 192.0.2.2:8\">192.0.2.1:7 …</span>")
        .doesNotContain("<tr><td>57</td>");
    assertThat(page("count", true)).contains("<tr><td>57</td>").doesNotContain("are shown");
  }

  @Test
  void shouldAskSparkOnceForEachStageThatItShows() {
    for (int stage = 0; stage < 60; stage++) {
      figures.addTask("1", stage, 1, 1);
    }
    List<Integer> asked = new ArrayList<>();
    PageContent.SparkStage known = new PageContent.SparkStage("", "", 0, "");
    IntFunction<PageContent.SparkStage> stages =
        stage -> {
          asked.add(stage);
          return known;
        };
    new PageContent(figures.snapshot(), figures.totals(), stages, false).html();
    assertThat(asked).hasSize(50).doesNotHaveDuplicates();
  }

  private String page() {
    return page("count", false);
  }

  private String page(String stageName, boolean all) {
    return new PageContent(
            figures.snapshot(),
            figures.totals(),
            id ->
                new PageContent.SparkStage(
                    "<a href=\"s\">" + id + "</a>", stageName, 2_000, "2 s (7 %)"),
            all)
        .html()
        .replace('\u00a0', ' ');
  }
}
