// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.sparkrdma.shuffle.metrics.Figure;

/**
 * Writes the content of the page as HTML. Escapes all that comes from executors. Confined to one
 * thread.
 */
final class PageContent {
  private static final int MAX_REASONS = 5;

  private final Snapshot figures;
  private final ApplicationTotals totals;

  PageContent(Snapshot figures, ApplicationTotals totals) {
    this.figures = figures;
    this.totals = totals;
  }

  String html() {
    return "<div id=\"rdma-shuffle\">"
        + summary()
        + section("Executors", executors())
        + section("Blocks that used TCP, by reason", fallbacks())
        + section("Stages", stages())
        + "</div>";
  }

  private static String section(String title, String content) {
    return "<h4>" + Html.escape(title) + "</h4>" + content;
  }

  private String summary() {
    StringBuilder html = new StringBuilder("<ul class=\"list-unstyled\">");
    figures.notes().forEach(note -> item(html, "Note:", note));
    Map<String, ExecutorFigures> executors = figures.executors();
    long running = executors.values().stream().filter(one -> !one.isRemoved()).count();
    String ofRunning = "up in " + totals.withRdma() + " of " + running;
    item(
        html,
        "RDMA:",
        executors.isEmpty()
            ? "no executor has reported" + (figures.ended() ? "" : " yet")
            : ofRunning + (figures.ended() ? " executors at the end" : " running executors"));
    addReasons(html);
    BytesByPath bytes = totals.bytes();
    item(
        html,
        "By READ:",
        Html.bytes(bytes.read()) + ", from copy pools " + Html.bytes(bytes.copied()));
    item(html, "By TCP:", Html.bytes(bytes.tcp()));
    item(html, "From local disks:", Html.bytes(bytes.local()));
    return html.append("</ul>").toString();
  }

  /** Reasons why RDMA is not used, with the number of executors: the most frequent first. */
  private void addReasons(StringBuilder html) {
    Map<String, List<ExecutorFigures>> byReason = new TreeMap<>();
    for (ExecutorFigures executor : figures.executors().values()) {
      String reason = executor.text(Figure.REASONS);
      if (!reason.isEmpty()) {
        byReason.computeIfAbsent(reason, key -> new ArrayList<>()).add(executor);
      }
    }
    List<String> reasons = new ArrayList<>(byReason.keySet());
    reasons.sort(Comparator.comparing(reason -> -byReason.get(reason).size()));
    List<ExecutorFigures> others = new ArrayList<>();
    for (int i = 0; i < reasons.size(); i++) {
      List<ExecutorFigures> executors = byReason.get(reasons.get(i));
      if (i < MAX_REASONS) {
        item(html, notUsedIn(executors), reasons.get(i));
      } else {
        others.addAll(executors);
      }
    }
    if (!others.isEmpty()) {
      item(html, notUsedIn(others), "other reasons, which the table of executors has");
    }
  }

  private String notUsedIn(List<ExecutorFigures> executors) {
    int count = executors.size();
    long running = executors.stream().filter(one -> !one.isRemoved()).count();
    return ("Not used in " + count + (count == 1 ? " executor" : " executors"))
        + (running == count ? "" : ", " + running + (figures.ended() ? " at the end" : " running"))
        + ":";
  }

  private static void item(StringBuilder html, String name, String text) {
    html.append("<li><strong>")
        .append(Html.escape(name))
        .append("</strong> ")
        .append(Html.escape(text))
        .append("</li>");
  }

  private String executors() {
    Table table =
        new Table(
            "rdma-executors",
            "Executor",
            "Host",
            "RDMA",
            "Reason why not",
            "Engine",
            "Device",
            "Address",
            "Pinned",
            "Connections",
            "READ",
            "TCP",
            "Local");
    figures.executors().forEach((executorId, executor) -> row(table, executorId, executor));
    return table.end();
  }

  private static void row(Table table, String executorId, ExecutorFigures executor) {
    BytesByPath bytes = executor.bytes();
    table
        .beginRow()
        .text(executorId)
        .text(executor.host())
        .text(executor.state())
        .text(executor.text(Figure.REASONS))
        .text(executor.text(Figure.ENGINE))
        .text(executor.text(Figure.DEVICE))
        .text(executor.text(Figure.ADDRESSES))
        .bytes(executor.isRemoved() ? 0 : executor.number(Figure.PINNED))
        .number(executor.isRemoved() ? 0 : executor.number(Figure.CONNECTIONS))
        .bytes(bytes.read())
        .bytes(bytes.tcp())
        .bytes(bytes.local())
        .endRow();
  }

  private String fallbacks() {
    if (totals.fallbacks().isEmpty()) {
      return "<p>None.</p>";
    }
    Table table = new Table("rdma-fallbacks", "Reason", "Blocks");
    totals
        .fallbacks()
        .forEach((reason, blocks) -> table.beginRow().text(reason).number(blocks).endRow());
    return table.end()
        + "<p>docs/troubleshooting.md of the plug-in has the meaning of each reason and what to do.</p>";
  }

  private String stages() {
    Table table = new Table("rdma-stages", "Stage", "From other executors", "READ", "TCP", "Local");
    // Only then, because a report that is on its way would show as TCP.
    boolean plain = figures.executors().values().stream().anyMatch(ExecutorFigures::hasPlainBytes);
    for (int i = figures.stages().size() - 1; i >= 0; i--) {
      StageBytes stage = figures.stages().get(i);
      table
          .beginRow()
          .number(stage.stageId())
          .bytes(stage.remote())
          .bytes(stage.read())
          .bytes(plain ? Math.max(stage.tcp(), stage.remote() - stage.read()) : stage.tcp())
          .bytes(stage.local())
          .endRow();
    }
    return table.end();
  }
}
