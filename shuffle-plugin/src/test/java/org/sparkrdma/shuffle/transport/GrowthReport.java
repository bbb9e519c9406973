// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * The results of shuffles of several sizes: growth laws, JSON, CSV and a page with plots.
 *
 * @param growth the same shuffle on more and more executors
 * @param incast many servers and one reader with many tasks
 * @param waves a shuffle with all its tasks
 */
record GrowthReport(
    String date,
    String command,
    List<GrowthRun.Result> growth,
    List<GrowthRun.Result> incast,
    List<GrowthRun.Result> waves) {
  private static final int WIDTH = 420;
  private static final int HEIGHT = 260;
  private static final int MARGIN = 50;

  /** Quantities of one executor. */
  enum Quantity {
    CONNECTIONS("connections", GrowthRun.Result::connections),
    CONTROL_BYTES("bytes of message buffers", GrowthRun.Result::controlBytes),
    PINNED_BYTES("highest pinned bytes", GrowthRun.Result::highestPinnedBytes),
    MESSAGES("messages to peers", GrowthRun.Result::messages),
    WORK("steps of agent and server", GrowthRun.Result::work),
    DRIVER_MESSAGES("messages to the driver", GrowthRun.Result::driverMessages),
    DRIVER_RECORDS("endpoints from the driver", GrowthRun.Result::driverRecords),
    FIRST_BLOCK("ms to the first block", GrowthRun.Result::firstBlockMs),
    LAST_PEER("ms to a block of every peer", GrowthRun.Result::lastPeerMs),
    READ_BYTES("highest READ bytes in flight", GrowthRun.Result::maxReadBytesInFlight);

    private final String label;

    @SuppressWarnings("ImmutableEnumChecker")
    private final ToDoubleFunction<GrowthRun.Result> value;

    Quantity(String label, ToDoubleFunction<GrowthRun.Result> value) {
      this.label = label;
      this.value = value;
    }

    double of(GrowthRun.Result result) {
      return value.applyAsDouble(result);
    }

    @Override
    public String toString() {
      return label;
    }
  }

  /** Least-squares exponent e of a quantity that grows as the number of executors to the e. */
  static double exponent(List<GrowthRun.Result> results, Quantity quantity) {
    double meanX = results.stream().mapToDouble(GrowthReport::logExecutors).average().orElseThrow();
    double meanY = results.stream().mapToDouble(one -> log(one, quantity)).average().orElseThrow();
    double products = 0;
    double squares = 0;
    for (GrowthRun.Result one : results) {
      double x = logExecutors(one) - meanX;
      products += x * (log(one, quantity) - meanY);
      squares += x * x;
    }
    return products / squares;
  }

  private static double logExecutors(GrowthRun.Result result) {
    return Math.log(result.shape().executors());
  }

  private static double log(GrowthRun.Result result, Quantity quantity) {
    return Math.log(Math.max(1e-3, quantity.of(result)));
  }

  /** The law in words. */
  static String law(double exponent) {
    if (Math.abs(exponent) < 0.15) {
      return "constant";
    }
    return Math.abs(exponent - 1) < 0.15
        ? "linear"
        : String.format(Locale.ROOT, "N^%.2f", exponent);
  }

  /** Law of each quantity, as lines of a table in Markdown. */
  String table() {
    StringBuilder text = new StringBuilder("| of one executor | growth with N |");
    growth.forEach(one -> text.append(" N = %d |".formatted(one.shape().executors())));
    text.append("\n|---|---|").append("---|".repeat(growth.size())).append('\n');
    for (Quantity quantity : Quantity.values()) {
      text.append("| %s | %s |".formatted(quantity, law(exponent(growth, quantity))));
      growth.forEach(one -> text.append(" %s |".formatted(number(quantity.of(one)))));
      text.append('\n');
    }
    return text.toString();
  }

  private static String number(double value) {
    return value == Math.rint(value)
        ? String.format(Locale.ROOT, "%,.0f", value)
        : String.format(Locale.ROOT, "%.2f", value);
  }

  /** Writes growth.json, growth.csv, growth.md and growth.html. */
  void write(Path directory) throws IOException {
    Files.createDirectories(directory);
    new ObjectMapper()
        .writerWithDefaultPrettyPrinter()
        .writeValue(directory.resolve("growth.json").toFile(), json());
    Files.writeString(directory.resolve("growth.csv"), csv());
    Files.writeString(directory.resolve("growth.md"), table() + '\n' + incastText() + wavesText());
    Files.writeString(directory.resolve("growth.html"), page());
  }

  private Map<String, Object> json() {
    Map<String, Object> laws = new LinkedHashMap<>();
    for (Quantity quantity : Quantity.values()) {
      laws.put(quantity.toString(), exponent(growth, quantity));
    }
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("date", date);
    json.put("command", command);
    json.put("exponents", laws);
    json.put("growth", growth);
    json.put("incast", incast);
    json.put("waves", waves);
    return json;
  }

  private String csv() {
    StringBuilder text = new StringBuilder("run,executors,maps,tasks,block bytes,pinned.max");
    for (Quantity quantity : Quantity.values()) {
      text.append(',').append(quantity);
    }
    text.append(",ms to all blocks,fallbacks,fallbacks of others\n");
    growth.forEach(one -> appendRow(text, "growth", one));
    incast.forEach(one -> appendRow(text, "incast", one));
    waves.forEach(one -> appendRow(text, "waves", one));
    return text.toString();
  }

  private static void appendRow(StringBuilder text, String run, GrowthRun.Result one) {
    GrowthRun.Shape shape = one.shape();
    text.append(
        "%s,%d,%d,%d,%d,%d"
            .formatted(
                run,
                shape.executors(),
                shape.maps(),
                shape.tasks(),
                shape.blockBytes(),
                shape.pinnedBytes()));
    for (Quantity quantity : Quantity.values()) {
      text.append(String.format(Locale.ROOT, ",%.3f", quantity.of(one)));
    }
    text.append(
        String.format(
            Locale.ROOT,
            ",%.3f,%d,%d%n",
            one.allBlocksMs(),
            sum(one.fallbacks()),
            sum(one.fallbacksOfOthers())));
  }

  private static long sum(Map<FallbackReason, Long> counts) {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  /** A page in one file, without scripts. */
  private String page() {
    StringBuilder body = new StringBuilder();
    for (Quantity quantity : Quantity.values()) {
      body.append(plot(quantity));
    }
    return """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <title>Growth of one executor's cost</title>
        <style>
        body { font: 14px sans-serif; margin: 2em; }
        svg { border: 1px solid #ccc; margin: 4px; }
        text { font-size: 11px; }
        </style>
        </head>
        <body>
        <h1>Growth of one executor's cost with the number of executors</h1>
        <p>%s, <code>%s</code>. Simulated: virtual time, default settings. Both axes are logarithmic.</p>
        %s
        <h2>Incast</h2>
        <pre>%s</pre>
        <h2>All tasks of a shuffle, in waves</h2>
        <pre>%s</pre>
        </body>
        </html>
        """
        .formatted(date, command, body, incastText(), wavesText());
  }

  /** One line for each incast. */
  String incastText() {
    StringBuilder text = new StringBuilder();
    for (GrowthRun.Result one : incast) {
      text.append(
          String.format(
              Locale.ROOT,
              "%d servers, %d tasks, pinned.max %d MiB: at most %.1f MiB of READs in flight, %.1f ms for"
                  + " %d blocks of %d KiB, fallbacks %s, of the servers as readers %s, waits for"
                  + " memory %s, longest %.1f ms%n",
              one.shape().executors() - 1,
              one.shape().tasks(),
              one.shape().pinnedBytes() >> 20,
              one.maxReadBytesInFlight() / 1048576.0,
              one.allBlocksMs(),
              one.blocks(),
              one.shape().blockBytes() >> 10,
              one.fallbacks(),
              one.fallbacksOfOthers(),
              one.memoryWaits(),
              one.longestMemoryWaitMs()));
    }
    return text.toString();
  }

  /** One line for each shuffle in waves. */
  String wavesText() {
    StringBuilder text = new StringBuilder();
    for (GrowthRun.Result one : waves) {
      GrowthRun.Shape shape = one.shape();
      text.append(
          String.format(
              Locale.ROOT,
              "%,d executors, %,d x %,d blocks of %d KiB, %d waves of %d tasks,"
                  + " pinned.max %,d MiB: %,d blocks read and"
                  + " %,d served in %.1f ms, %,d connections, at most %.1f MiB pinned and %.1f MiB of"
                  + " READs in flight, %.3f messages and %.3f steps for each block, fallbacks %s, of"
                  + " the others %s%n",
              shape.executors(),
              shape.maps(),
              shape.partitions(),
              shape.blockBytes() >> 10,
              shape.waves(),
              shape.tasks(),
              shape.pinnedBytes() >> 20,
              one.blocks(),
              one.served(),
              one.allBlocksMs(),
              one.connections(),
              one.highestPinnedBytes() / 1048576.0,
              one.maxReadBytesInFlight() / 1048576.0,
              (double) one.messages() / (one.blocks() + one.served()),
              (double) one.work() / (one.blocks() + one.served()),
              one.fallbacks(),
              one.fallbacksOfOthers()));
    }
    return text.toString();
  }

  private String plot(Quantity quantity) {
    double low = growth.stream().mapToDouble(one -> log(one, quantity)).min().orElseThrow();
    double high = growth.stream().mapToDouble(one -> log(one, quantity)).max().orElseThrow();
    double first = logExecutors(growth.get(0));
    double last = logExecutors(growth.get(growth.size() - 1));
    double height = Math.max(1, high - low);
    StringBuilder points = new StringBuilder();
    StringBuilder labels = new StringBuilder();
    for (GrowthRun.Result one : growth) {
      double x = MARGIN + (logExecutors(one) - first) / (last - first) * (WIDTH - 2 * MARGIN);
      double y = HEIGHT - MARGIN - (log(one, quantity) - low) / height * (HEIGHT - 2 * MARGIN);
      points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, y));
      labels.append(
          String.format(
              Locale.ROOT,
              "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/><text x=\"%.1f\" y=\"%.1f\""
                  + " text-anchor=\"middle\">%s</text><text x=\"%.1f\" y=\"%d\""
                  + " text-anchor=\"middle\">%d</text>%n",
              x,
              y,
              x,
              y - 8,
              number(quantity.of(one)),
              x,
              HEIGHT - MARGIN / 2,
              one.shape().executors()));
    }
    return """
        <svg width="%d" height="%d" role="img"><text x="10" y="16">%s: %s</text>
        <polyline points="%s" fill="none" stroke="#1f77b4" stroke-width="2"/>
        %s<text x="%d" y="%d" text-anchor="middle">executors</text></svg>
        """
        .formatted(
            WIDTH,
            HEIGHT,
            quantity,
            law(exponent(growth, quantity)),
            points.toString().strip(),
            labels,
            WIDTH / 2,
            HEIGHT - 6);
  }
}
