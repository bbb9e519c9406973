// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.page;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.sparkrdma.shuffle.metrics.Figure;
import org.sparkrdma.shuffle.ui.figures.BytesByPath;
import org.sparkrdma.shuffle.ui.figures.ExecutorFigures;
import org.sparkrdma.shuffle.ui.figures.Snapshot;
import org.sparkrdma.shuffle.ui.figures.StageBytes;
import org.sparkrdma.shuffle.ui.figures.TimeSeries;

/**
 * Writes the content of the page as HTML. Escapes all that comes from executors. Confined to one
 * thread.
 */
final class PageContent {
  private static final int MAX_REASONS = 5;

  /** Rows of executors without RDMA; each has a reason of up to 500 characters. */
  private static final int MAX_WITHOUT_RDMA = 100;

  private final List<String> notes;
  private final Map<String, ExecutorFigures> executors;
  private final List<StageBytes> stages;
  private final List<TimeSeries.Point> points;
  private final BytesByPath total;

  PageContent(Snapshot figures) {
    this.notes = figures.notes();
    this.executors = figures.executors();
    this.stages = figures.stages();
    this.points = figures.points();
    this.total = figures.total();
  }

  String html() {
    return "<div id=\"rdma-shuffle\">"
        + summary()
        + section("Shuffle bytes by path", Chart.svg(points))
        + section("Executors without RDMA", withoutRdma())
        + section("Executors", executors())
        + section("Blocks that used TCP, by reason", fallbacks())
        + section("Stages", stages())
        + "</div>";
  }

  private static String section(String title, String content) {
    return content.isEmpty() ? "" : "<h4>" + Html.escape(title) + "</h4>" + content;
  }

  private String summary() {
    StringBuilder html = new StringBuilder("<ul class=\"list-unstyled\">");
    notes.forEach(note -> item(html, "Note:", note));
    long up = executors.values().stream().filter(one -> isUp(one)).count();
    long running = executors.values().stream().filter(one -> !one.isRemoved()).count();
    if (executors.isEmpty()) {
      item(html, "RDMA:", "no executor has reported yet");
    } else {
      item(html, "RDMA:", "up in " + up + " of " + running + " running executors");
    }
    reasons()
        .forEach(
            (reason, count) ->
                item(
                    html,
                    "Not used in " + count + (count == 1 ? " executor:" : " executors:"),
                    reason));
    item(
        html,
        "By READ:",
        Html.bytes(total.read()) + share() + ", from copy pools " + Html.bytes(total.copied()));
    item(html, "By TCP:", Html.bytes(total.tcp()));
    item(html, "From local disks:", Html.bytes(total.local()));
    return html.append("</ul>").toString();
  }

  private String share() {
    long remote = total.read() + total.tcp();
    return remote == 0
        ? ""
        : String.format(Locale.ROOT, " (%.1f %% of remote bytes)", 100.0 * total.read() / remote);
  }

  private static boolean isUp(ExecutorFigures executor) {
    return !executor.isRemoved() && executor.text(Figure.STATE).equals("up");
  }

  /** Reasons why RDMA is not used, with the number of executors. */
  private Map<String, Integer> reasons() {
    Map<String, Integer> reasons = new TreeMap<>();
    for (ExecutorFigures executor : executors.values()) {
      String reason = executor.text(Figure.REASONS);
      if (!reason.isEmpty() && (reasons.size() < MAX_REASONS || reasons.containsKey(reason))) {
        reasons.merge(reason, 1, Integer::sum);
      }
    }
    return reasons;
  }

  private static void item(StringBuilder html, String name, String text) {
    html.append("<li><strong>")
        .append(Html.escape(name))
        .append("</strong> ")
        .append(Html.escape(text))
        .append("</li>");
  }

  /** The reason of each executor, running ones first; empty where no executor has one. */
  private String withoutRdma() {
    List<Map.Entry<String, ExecutorFigures>> all =
        executors.entrySet().stream()
            .filter(entry -> !entry.getValue().text(Figure.REASONS).isEmpty())
            .sorted(Comparator.comparing(entry -> entry.getValue().isRemoved()))
            .toList();
    if (all.isEmpty()) {
      return "";
    }
    Table table =
        new Table("rdma-without", List.of("Executor", "Host", "RDMA", "Reason|As in its log"));
    all.stream()
        .limit(MAX_WITHOUT_RDMA)
        .forEach(
            entry ->
                table
                    .beginRow()
                    .text(entry.getKey())
                    .text(entry.getValue().host())
                    .text(state(entry.getValue()))
                    .text(entry.getValue().text(Figure.REASONS))
                    .endRow());
    int more = all.size() - MAX_WITHOUT_RDMA;
    return more > 0 ? table.end() + "<p>and " + more + " more</p>" : table.end();
  }

  private String executors() {
    if (executors.isEmpty()) {
      return "";
    }
    Table table =
        new Table(
            "rdma-executors",
            List.of(
                "Executor",
                "Host",
                "RDMA",
                "Engine",
                "Device",
                "Address",
                "Link",
                "Pinned / budget|Registered memory now, and its maximum",
                "Connections|Established now",
                "Quarantines|Of peers, since the start of the executor",
                "Quarantined peers|Executors whose blocks use TCP until a test has read data of them",
                "READ|Bytes that tasks of this executor received by READ",
                "Copy mode|Bytes that this executor served to peers from its copy pool",
                "TCP|Bytes that tasks of this executor received by TCP",
                "Local|Bytes that tasks read from the executor's own disks",
                "READ p50|Half of the READs completed in this time",
                "READ p99|99 of 100 READs completed in this time"));
    executors.forEach((executorId, executor) -> row(table, executorId, executor));
    return table.end();
  }

  private static void row(Table table, String executorId, ExecutorFigures executor) {
    BytesByPath bytes = executor.bytes();
    long pinned = executor.isRemoved() ? 0 : executor.number(Figure.PINNED);
    long connections = executor.isRemoved() ? 0 : executor.number(Figure.CONNECTIONS);
    table
        .beginRow()
        .text(executorId)
        .text(executor.host())
        .text(state(executor))
        .text(executor.text(Figure.ENGINE))
        .text(executor.text(Figure.DEVICE))
        .addresses(executor.text(Figure.ADDRESSES))
        .text(executor.text(Figure.SPEED))
        .number(
            pinned, Html.bytes(pinned) + " / " + Html.bytes(executor.number(Figure.PINNED_LIMIT)))
        .number(connections)
        .number(executor.number(Figure.QUARANTINES))
        .text(executor.isRemoved() ? "" : executor.text(Figure.QUARANTINED_PEERS))
        .bytes(bytes.read())
        .bytes(bytes.copied())
        .bytes(bytes.tcp())
        .bytes(bytes.local());
    latency(table, executor.number(Figure.LATENCY_P50_US));
    latency(table, executor.number(Figure.LATENCY_P99_US));
    table.endRow();
  }

  private static void latency(Table table, long us) {
    String text = "";
    if (us >= 1_000) {
      text = String.format(Locale.ROOT, "%.1f ms", us / 1_000.0);
    } else if (us > 0) {
      text = us + " \u00b5s";
    }
    table.number(us, text);
  }

  private static String state(ExecutorFigures executor) {
    if (executor.isRemoved()) {
      return "lost: " + executor.removedReason();
    }
    String state = executor.text(Figure.STATE);
    return state.isEmpty() ? "not reported" : state;
  }

  private String fallbacks() {
    Map<String, Long> counts = new TreeMap<>();
    executors
        .values()
        .forEach(one -> one.fallbacks().forEach((reason, n) -> counts.merge(reason, n, Long::sum)));
    if (counts.isEmpty()) {
      return "<p>None.</p>";
    }
    Table table = new Table("rdma-fallbacks", List.of("Reason", "Blocks", "Meaning", "What to do"));
    counts.forEach(
        (reason, count) ->
            table
                .beginRow()
                .text(reason)
                .number(count)
                .text(Remedies.meaning(reason))
                .text(Remedies.remedy(reason))
                .endRow());
    return table.end();
  }

  private String stages() {
    if (stages.isEmpty()) {
      return "";
    }
    Table table =
        new Table(
            "rdma-stages",
            List.of(
                "Stage",
                "From other executors|From Spark's metrics of tasks that have ended",
                "READ|Bytes that executors received by READ, as they have reported",
                "Copy mode|Of READ, bytes that peers served from their copy pools",
                "TCP|Bytes that executors received by TCP, as they have reported",
                "Local|From the executors' own disks, from Spark's metrics"));
    List<StageBytes> latestFirst = new ArrayList<>(stages);
    latestFirst.sort((a, b) -> Integer.compare(b.stageId(), a.stageId()));
    for (StageBytes stage : latestFirst) {
      table.beginRow().number(stage.stageId()).bytes(stage.remote());
      received(table, stage);
      table.bytes(stage.local()).endRow();
    }
    return table.end();
  }

  /** Empty cells until executors have reported, and for event logs of versions that did not. */
  private void received(Table table, StageBytes stage) {
    BytesByPath bytes = stage.received();
    if (stage.isReported() || stage.remote() == 0) {
      table.bytes(bytes.read()).bytes(bytes.copied()).bytes(bytes.tcp());
    } else if (executors.values().stream().noneMatch(ExecutorFigures::hasReported)) {
      // Without the plug-in's reports there is no RDMA.
      table.bytes(0).bytes(0).bytes(stage.remote());
    } else {
      table.number(0, "").number(0, "").number(0, "");
    }
  }
}
