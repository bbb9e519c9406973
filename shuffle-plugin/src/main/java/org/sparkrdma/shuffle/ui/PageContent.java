// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ResourceBundle;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.sparkrdma.shuffle.figures.ApplicationFigures;
import org.sparkrdma.shuffle.figures.ApplicationTotals;
import org.sparkrdma.shuffle.figures.BytesByPath;
import org.sparkrdma.shuffle.figures.ExecutorFigures;
import org.sparkrdma.shuffle.figures.Snapshot;
import org.sparkrdma.shuffle.figures.StageBytes;
import org.sparkrdma.shuffle.metrics.Figure;

/**
 * Writes the content of the page as HTML: what people look for comes first. Escapes all that comes
 * from executors and from Spark. Needs no script but Spark's own, which sorts. Does not change.
 *
 * @param sparkStages what Spark knows of a stage
 * @param all whether tables show all their rows
 */
record PageContent(
    Snapshot figures, ApplicationTotals totals, IntFunction<SparkStage> sparkStages, boolean all) {
  private static final int MAX_REASONS = 5;

  /** Long texts may break anywhere, headings and numbers only between words. */
  private static final String STYLE =
      "<style>#rdma-shuffle td { overflow-wrap: anywhere }"
          + " #rdma-shuffle .rdma-number { overflow-wrap: normal; text-align: right }</style>";

  /** The comments of FallbackReason, by its label, and with the suffix {@code .todo}. */
  private static final ResourceBundle REASONS =
      ResourceBundle.getBundle("org.sparkrdma.shuffle.ui.fallback-reasons");

  String html() {
    return "<div id=\"rdma-shuffle\">"
        + STYLE
        + bytesByPath()
        + summary()
        + "<h4>Blocks that fell back to TCP, by reason</h4>"
        + fallbacks()
        + "<h4>Stages</h4>"
        + stages()
        + "<h4>Executors</h4>"
        + executors()
        + "</div>";
  }

  /** A sentence, a bar and its legend; the colours are distinct on light and on dark pages. */
  private String bytesByPath() {
    BytesByPath bytes = totals.bytes();
    long remote = bytes.read() + bytes.tcp();
    String sentence =
        remote == 0
            ? "No bytes of other executors have been read" + (figures.ended() ? "" : " yet")
            : Html.percent(bytes.read(), remote) + " of remote bytes over RDMA";
    String copied =
        bytes.copied() == 0 ? "" : ", of which " + Html.bytes(bytes.copied()) + " from copies";
    StringBuilder bar = new StringBuilder();
    StringBuilder legend = new StringBuilder();
    addPath(bar, legend, "#2a7de1", bytes.read(), "over RDMA" + copied);
    addPath(bar, legend, "#d9661f", bytes.tcp(), "over TCP");
    addPath(bar, legend, "#84898f", bytes.local(), "from local disks");
    return ("<p><strong>" + sentence + "</strong> (" + Html.bytes(bytes.read()))
        + (" of " + Html.bytes(remote) + ")</p>")
        + ("<div style=\"display:flex;height:1em;max-width:50em\" aria-hidden=\"true\">" + bar)
        + ("</div><p>" + legend + "</p>");
  }

  private static void addPath(
      StringBuilder bar, StringBuilder legend, String colour, long bytes, String name) {
    bar.append("<div style=\"flex:" + bytes + ";background:" + colour + "\"></div>");
    legend
        .append("<span style=\"color:" + colour + "\">&#9632;</span> ")
        .append(Html.bytes(bytes) + " " + name + " &#160; ");
  }

  private String summary() {
    StringBuilder html = new StringBuilder("<ul class=\"list-unstyled\">");
    figures.notes().forEach(note -> item(html, "Note:", note));
    if (figures.figuresMs() > 0 && !figures.ended()) {
      long totalsMs = Math.max(figures.figuresMs(), figures.totalsMs());
      item(
          html,
          "As of:",
          time(figures.figuresMs()) + " in the tables, " + time(totalsMs) + " above and here");
    }
    long running = figures.executors().values().stream().filter(one -> !one.isRemoved()).count();
    String when = figures.ended() ? " executors at the end" : " running executors";
    item(html, "RDMA:", "up in " + totals.withRdma() + " of " + running + when);
    addReasons(html);
    if (totals.endedBytes() > 0) {
      item(html, "Of executors that have ended, over RDMA:", Html.bytes(totals.endedBytes()));
    }
    String p50 = "p50 " + totals.present(Figure.LATENCY_P50_US);
    String p99 = "p99 " + totals.present(Figure.LATENCY_P99_US);
    item(html, "RDMA reads, slowest executor:", Html.unbroken(p50 + " µs, " + p99 + " µs"));
    String limit = Html.bytes(totals.present(Figure.PINNED_LIMIT));
    String highest = "; highest of one executor " + Html.bytes(totals.highestPinnedBytes());
    item(html, "Pinned:", Html.bytes(totals.present(Figure.PINNED)) + " of " + limit + highest);
    item(html, "Quarantines of peers:", Long.toString(totals.quarantines()));
    return html.append("</ul>").toString();
  }

  private static String time(long ms) {
    return Instant.ofEpochMilli(ms).truncatedTo(ChronoUnit.SECONDS).toString();
  }

  /** Reasons why RDMA is not used, with the number of executors: the most frequent first. */
  private void addReasons(StringBuilder html) {
    Map<String, List<ExecutorFigures>> byReason =
        figures.executors().values().stream()
            .filter(one -> !one.text(Figure.REASONS).isEmpty())
            .collect(
                Collectors.groupingBy(
                    one -> one.text(Figure.REASONS), TreeMap::new, Collectors.toList()));
    byReason.entrySet().stream()
        .sorted(Comparator.comparing(one -> -one.getValue().size()))
        .limit(MAX_REASONS)
        .forEach(one -> item(html, notUsedIn(one.getValue()), one.getKey()));
    if (byReason.size() > MAX_REASONS) {
      item(html, "Other reasons:", "in the table of executors");
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
    html.append("<li><strong>" + Html.escape(name) + "</strong> " + Html.escape(text) + "</li>");
  }

  private String fallbacks() {
    List<Map.Entry<String, Long>> reasons = new ArrayList<>(totals.fallbacks().entrySet());
    if (reasons.isEmpty()) {
      return "<p>None.</p>";
    }
    return new Table<Map.Entry<String, Long>>("rdma-fallbacks")
        .text("Reason", "Its name in metrics and logs", Map.Entry::getKey)
        .number("Blocks", "Blocks that came over TCP for this reason", Map.Entry::getValue)
        .text("Meaning", "What happened", one -> text(one.getKey()))
        .text("What to do", "How to get them over RDMA", one -> text(one.getKey() + ".todo"))
        .html(reasons, true);
  }

  /** Empty for a reason of another version. */
  private static String text(String key) {
    return REASONS.containsKey(key) ? REASONS.getString(key) : "";
  }

  private String stages() {
    // Only then, because a report that is on its way would show as TCP.
    boolean plain = figures.executors().values().stream().anyMatch(ExecutorFigures::hasPlainBytes);
    List<StageBytes> latestFirst = new ArrayList<>();
    for (int i = figures.stages().size() - 1; i >= 0; i--) {
      StageBytes stage = figures.stages().get(i);
      latestFirst.add(plain ? stage.withPlainTcp() : stage);
    }
    boolean mayLack = latestFirst.size() >= ApplicationFigures.MAX_STAGES;
    // Spark sorts all its stages for each look-up.
    Map<Integer, SparkStage> known = new HashMap<>();
    return (mayLack ? "<p>Only the latest " + latestFirst.size() + " stages are kept.</p>" : "")
        + new Table<StageBytes>("rdma-stages")
            .number(
                "Stage",
                "Links to Spark's page of the stage",
                StageBytes::stageId,
                stage -> spark(known, stage).link())
            .text("Name", "As on Spark's pages", stage -> spark(known, stage).name())
            .number(
                "RDMA share",
                "Share of the bytes from other executors that came over RDMA",
                stage -> (long) (1e6 * stage.read() / Math.max(1, stage.read() + stage.tcp())),
                stage -> Html.percent(stage.read(), stage.read() + stage.tcp()))
            .number(
                "Fetch wait",
                "How long tasks waited for blocks, also as a share of their run time: the most that"
                    + " RDMA can save",
                stage -> spark(known, stage).fetchWaitMs(),
                stage -> spark(known, stage).fetchWait())
            .bytes("Remote", "Read from other executors, as Spark counts it", StageBytes::remote)
            .bytes("Over RDMA", "Read from other executors over RDMA", StageBytes::read)
            .bytes("Over TCP", "Read from other executors over TCP", StageBytes::tcp)
            .bytes("Local", "Read from local disks", StageBytes::local)
            .html(latestFirst, all);
  }

  private SparkStage spark(Map<Integer, SparkStage> known, StageBytes stage) {
    return known.computeIfAbsent(stage.stageId(), sparkStages::apply);
  }

  /** Those without RDMA first, and those that have ended folded away. */
  private String executors() {
    List<Executor> running = new ArrayList<>();
    List<Executor> ended = new ArrayList<>();
    figures
        .executors()
        .forEach((id, one) -> (one.isRemoved() ? ended : running).add(new Executor(id, one)));
    running.sort(Comparator.comparing(one -> one.figures.isUp()));
    return executors("rdma-executors", running)
        + ("<details><summary>Ended executors: " + ended.size() + "</summary>")
        + executors("rdma-ended", ended)
        + "</details>";
  }

  private String executors(String id, List<Executor> rows) {
    return new Table<Executor>(id)
        .text("Executor", "Spark's id", Executor::id)
        .text("Host", "As on Spark's pages", one -> one.figures.host())
        .text("RDMA", "State, and why RDMA is not used", Executor::state)
        .text("Device", "RDMA device, and the engine that drives it", Executor::device)
        .html("Address", "Where peers connect; the tooltip has all addresses", Executor::address)
        .bytes("Pinned", "Memory that is pinned now", one -> one.present(Figure.PINNED))
        .bytes(
            "Highest", "Most memory ever pinned", one -> one.figures.number(Figure.PINNED_HIGHEST))
        .bytes("Limit", "Most memory it may pin", one -> one.figures.number(Figure.PINNED_LIMIT))
        .number("Connections", "Open connections", one -> one.present(Figure.CONNECTIONS))
        .number(
            "p50 µs", "Median time of RDMA reads", one -> one.figures.number(Figure.LATENCY_P50_US))
        .number("p99 µs", "99 of 100 RDMA reads", one -> one.figures.number(Figure.LATENCY_P99_US))
        .number("Quarantines", "Of failed peers", one -> one.figures.number(Figure.QUARANTINES))
        .bytes("Over RDMA", "Its tasks read over RDMA", one -> one.figures.bytes().read())
        .bytes("Over TCP", "Its tasks read over TCP", one -> one.figures.bytes().tcp())
        .bytes("Local", "Its tasks read from local disks", one -> one.figures.bytes().local())
        .html(rows, all);
  }

  /** An executor with its id. */
  private record Executor(String id, ExecutorFigures figures) {
    /** A figure that only a running executor has. */
    long present(Figure figure) {
      return figures.isRemoved() ? 0 : figures.number(figure);
    }

    String state() {
      String reasons = figures.text(Figure.REASONS);
      return figures.state() + (reasons.isEmpty() ? "" : " (" + reasons + ")");
    }

    String device() {
      String device = figures.text(Figure.DEVICE);
      return device.isEmpty() ? "" : device + " (" + figures.text(Figure.ENGINE) + ")";
    }

    /** The first address, with all in its tooltip. */
    String address() {
      String all = Html.escape(figures.text(Figure.ADDRESSES));
      return "<span title=\"" + all + "\">" + all.replaceFirst(", .*", " …") + "</span>";
    }
  }

  /**
   * What Spark still knows of a stage.
   *
   * @param link its id as HTML, a link to Spark's page of its last attempt unless Spark has
   *     forgotten it
   * @param name as Spark's pages show it
   * @param fetchWaitMs for which tasks of the last attempt have waited for blocks
   * @param fetchWait the same as HTML, with its share of their run time
   */
  record SparkStage(String link, String name, long fetchWaitMs, String fetchWait) {}
}
