// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringReader;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.ui.figures.ApplicationFigures;
import org.sparkrdma.shuffle.ui.figures.BytesByPath;
import org.xml.sax.InputSource;

class PageContentTest {
  private static final String SCRIPT = "<script>alert('1')</script>\"&";

  private final ApplicationFigures figures = new ApplicationFigures();

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
            3L),
        1_000);
    figures.remove(SCRIPT, SCRIPT);
    figures.report("2", Map.of("state", "up"), 3_000);
    String page = page(5_000);
    assertThat(page).doesNotContain("<script").contains("&lt;script&gt;alert(&#39;1&#39;)");
    // Well-formed, so no text has become an element or has ended an attribute.
    var document =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new InputSource(new StringReader(page)));
    assertThat(document.getElementsByTagName("script").getLength()).isZero();
    assertThat(document.getElementsByTagName("svg").getLength()).isPositive();
  }

  @Test
  void shouldShowTheReasonWhyRdmaIsNotUsedAndCountSparksOwnBytesAsTcp() {
    figures.report("1", Map.of("state", "off", "reasons", "no device", "tcp", 0L), 0);
    figures.addTask("1", 3, 2_048, 1_024, 10);
    assertThat(page(20))
        .contains("up in 0 of 1 running executors")
        .contains("Not used in 1 executor:</strong> no device")
        .contains("By TCP:</strong> 2.0 KiB")
        .contains("From local disks:</strong> 1.0 KiB");
  }

  @Test
  void shouldShowTheReasonOfAStartThatHangsAndCountSparksOwnBytesAsTcp() {
    figures.report("1", Map.of("state", "starting", "reasons", "it hangs", "tcp", 0L), 0);
    figures.addTask("1", 3, 2_048, 0, 10);
    assertThat(page(20))
        .contains("<td>starting</td><td>it hangs</td>")
        .contains("By TCP:</strong> 2.0 KiB");
  }

  @Test
  void shouldShowTheHostOfEachExecutorAndTheReasonOfEachWithoutRdma() {
    figures.start("1", "host-a");
    figures.start("2", "host-b");
    figures.start("3", "host-c");
    figures.report("1", Map.of("state", "off", "reasons", "no device"), 0);
    figures.report("2", Map.of("state", "up", "reasons", ""), 0);
    figures.report("3", Map.of("state", "restarting", "reasons", "port down"), 0);
    figures.remove("3", "idle");
    assertThat(page(20))
        .contains("<tr><td>1</td><td>host-a</td><td>off</td><td>no device</td></tr>")
        .contains("<tr><td>2</td><td>host-b</td><td>up</td><td></td>")
        .contains("<tr><td>3</td><td>host-c</td><td>lost: idle</td><td>port down</td></tr>");
    figures.report("1", Map.of("state", "up", "reasons", ""), 0);
    figures.report("3", Map.of("reasons", ""), 0);
    assertThat(page(20)).as("no executor has a reason").doesNotContain("rdma-without");
  }

  @Test
  void shouldShowOneHundredExecutorsWithoutRdmaRunningOnesFirst() {
    for (int i = 1; i <= 103; i++) {
      figures.report(Integer.toString(i), Map.of("state", "off", "reasons", "no device"), 0);
    }
    for (String removed : List.of("1", "2", "3")) {
      figures.remove(removed, "idle");
    }
    assertThat(page(20))
        .contains("<tr><td>4</td>", "<tr><td>103</td><td></td><td>off</td><td>no device</td></tr>")
        .contains("<p>and 3 more</p>")
        .doesNotContain("<td>lost: idle</td><td>no device</td>");
  }

  @Test
  void shouldCountNothingAsTcpBeforeAnExecutorHasReported() {
    figures.addTask("1", 3, 2_048, 1_024, 10);
    assertThat(page(20)).contains("By TCP:</strong> 0 B");
  }

  @Test
  void shouldShowOneAddressOnALineAndBreakNoneWithinItsPort() {
    figures.report(
        "1",
        Map.of("state", "up", "addresses", "192.0.2.2:38327, [fd00:0:0:0:0:0:0:2]:37143, eth0"),
        0);
    assertThat(page(20))
        .contains(
            "<td><span style=\"white-space:nowrap\">192.0.2.2:38327</span>"
                + "<br/>[fd00:<wbr/>0:<wbr/>0:<wbr/>0:<wbr/>0:<wbr/>0:<wbr/>0:<wbr/>2]:37143"
                + "<br/><span style=\"overflow-wrap:anywhere\">eth0</span></td>");
  }

  @Test
  void shouldShowTheBytesOfAStageByPath() {
    figures.report("1", Map.of("state", "up"), 0);
    figures.addTask("1", 3, 3_072, 1_024, 10);
    figures.addReceived(3, new BytesByPath(1_024, 512, 512, 0));
    figures.addReceived(3, new BytesByPath(1_024, 0, 512, 0));
    assertThat(stage(3)).containsExactly("3.0 KiB", "2.0 KiB", "512 B", "1.0 KiB", "1.0 KiB");
    figures.setReceived(3, new BytesByPath(3_072, 0, 0, 0));
    assertThat(stage(3)).containsExactly("3.0 KiB", "3.0 KiB", "0 B", "0 B", "1.0 KiB");
  }

  @Test
  void shouldLeaveTheCellsOfAStageEmptyThatNoExecutorHasReported() {
    figures.addTask("1", 3, 3_072, 1_024, 10);
    figures.addTask("1", 4, 0, 1_024, 10);
    assertThat(stage(3))
        .as("no executor has RDMA to report")
        .containsExactly("3.0 KiB", "0 B", "0 B", "3.0 KiB", "1.0 KiB");
    figures.report("1", Map.of("state", "up"), 0);
    assertThat(stage(3)).containsExactly("3.0 KiB", "", "", "", "1.0 KiB");
    assertThat(stage(4)).containsExactly("0 B", "0 B", "0 B", "0 B", "1.0 KiB");
  }

  /** Cells of the stage's row. */
  private List<String> stage(int stageId) {
    String page = page(20);
    String table = page.substring(page.indexOf("rdma-stages"));
    int row = table.indexOf(">" + stageId + "</td>");
    return Pattern.compile(">([^<]*)</td>")
        .matcher(table.substring(row, table.indexOf("</tr>", row)))
        .results()
        .skip(1)
        .map(cell -> cell.group(1))
        .toList();
  }

  @Test
  void shouldListTheQuarantinedPeersOfRunningExecutors() {
    figures.report("1", Map.of("state", "up", "quarantined", "3, 7"), 0);
    figures.report("2", Map.of("state", "up", "quarantined", "4, 8"), 0);
    figures.remove("2", "lost");
    assertThat(page(10)).contains("<td>3, 7</td>").doesNotContain("4, 8");
  }

  @Test
  void shouldMarkALostExecutorAndKeepItsBytes() {
    figures.report("1", Map.of("state", "up", "device", "mlx5_0", "read", 4_096L, "pinned", 7L), 0);
    figures.report("2", Map.of("state", "up", "device", "mlx5_0", "read", 1_024L), 0);
    figures.remove("1", "Command exited with code 137");
    assertThat(page(10))
        .contains("up in 1 of 1 running executors")
        .contains("<td>lost: Command exited with code 137</td>")
        .contains("By READ:</strong> 5.0 KiB (100.0 % of remote bytes)");
  }

  @Test
  void shouldHaveASentenceForEachReasonOfAFallback() {
    for (FallbackReason reason : FallbackReason.values()) {
      assertThat(Remedies.meaning(reason.label())).endsWith(".");
      assertThat(Remedies.remedy(reason.label())).endsWith(".");
    }
    figures.report("1", Map.of("fallback.pool-empty", 7L), 0);
    assertThat(page(0))
        .contains("<td>pool-empty</td>")
        .contains("Raise spark.shuffle.rdma.pinned.max");
  }

  @Test
  void shouldDrawAChartOfTwoPoints() {
    figures.report("1", Map.of("read", 1_000L), 0);
    assertThat(page(0)).contains("<polyline");
    assertThat(page(new ApplicationFigures(), 0)).doesNotContain("<polyline");
  }

  private String page(long nowMs) {
    return page(figures, nowMs);
  }

  private static String page(ApplicationFigures of, long nowMs) {
    return new PageContent(of.snapshot(nowMs)).html();
  }
}
