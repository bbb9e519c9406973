// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.GeneratedPage;

/**
 * The tables of metrics and of the reasons of fallbacks, and the texts of the tab, generated from
 * the names and comments in the sources.
 */
class MetricsPageTest {
  private static final Path PAGE = Path.of("..", "docs", "metrics.md");
  private static final Path REASONS = Path.of("..", "docs", "troubleshooting.md");
  private static final Path TEXTS =
      Path.of("src/main/resources/org/sparkrdma/shuffle/ui/fallback-reasons.properties");
  private static final String REMEDY = "\\. <p>To do: ";
  private static final String FALLBACK = "rdma.fallback.";
  private static final Path SOURCES = Path.of("src", "main", "java", "org", "sparkrdma", "shuffle");

  /** A constant of an enum, with its comment. */
  private static final Pattern CONSTANT =
      Pattern.compile("/\\*\\*([^/]*?)\\*/\\s+[A-Z0-9_]+\\(\"([a-z0-9.-]+)\"\\)");

  /** A gauge that is added, with its comment. */
  private static final Pattern ADDED = Pattern.compile("// (.*)\n +add\\(\"([a-z0-9.]+)\"");

  /** Names of the driver's metrics that are no counters. */
  private static final Pattern GAUGES = Pattern.compile("(executors|pinned|connections|read)\\.");

  @Test
  void shouldMatchTheTableGeneratedFromTheSources() throws IOException {
    GeneratedPage.partShouldBe(PAGE, "Metrics", "MetricsPageTest", table());
  }

  @Test
  void shouldFindEveryMetricOfTheSourceInTheSources() throws IOException {
    RdmaMetricsSource source = new RdmaMetricsSource(new ShuffleCounters(), Optional::empty);
    List<String> names =
        source.metricRegistry().getGauges().keySet().stream()
            .map(name -> source.sourceName() + "." + name)
            .map(name -> name.startsWith(FALLBACK) ? FALLBACK + "REASON" : name)
            .distinct()
            .toList();
    assertThat(table().lines().filter(line -> line.startsWith("| `")).map(MetricsPageTest::name))
        .filteredOn(name -> !name.startsWith("rdma.application."))
        .containsExactlyInAnyOrderElementsOf(names);
  }

  @Test
  void shouldHaveAMeaningAndARemedyForEveryReason() throws IOException {
    Map<String, String> texts = meanings("metrics/FallbackReason.java", CONSTANT);
    assertThat(texts.keySet())
        .containsExactlyElementsOf(
            Stream.of(FallbackReason.values()).map(FallbackReason::label).toList());
    StringBuilder table = new StringBuilder("\n| reason | meaning | what to do |\n|---|---|---|\n");
    StringBuilder properties = new StringBuilder();
    texts.forEach(
        (label, text) -> {
          String[] parts = text.split(REMEDY, -1);
          assertThat(parts).as(label).hasSize(2);
          table.append("| %s | %s | %s |\n".formatted(label, parts[0], parts[1]));
          String property = "%1$s=%2$s\n%1$s.todo=%3$s\n".formatted(label, parts[0], parts[1]);
          properties.append(property.replace("`", ""));
        });
    GeneratedPage.shouldBe(TEXTS, properties.toString());
    GeneratedPage.partShouldBe(
        REASONS, "Reasons", "MetricsPageTest", table.append('\n').toString());
  }

  private static String name(String row) {
    return row.substring(3, row.indexOf('`', 3));
  }

  private static String table() throws IOException {
    StringBuilder table = new StringBuilder("\n| metric | type | meaning |\n|---|---|---|\n");
    meanings("metrics/Counter.java", CONSTANT)
        .forEach((name, meaning) -> row(table, full(name), "counter", meaning));
    row(
        table,
        FALLBACK + "REASON",
        "counter",
        "Blocks that used TCP, by [reason](troubleshooting.md#every-reason)");
    meanings("metrics/RdmaMetricsSource.java", ADDED)
        .forEach((name, meaning) -> row(table, full(name), "gauge", meaning));
    meanings("ui/ApplicationMetricsSource.java", ADDED)
        .forEach(
            (name, meaning) ->
                row(
                    table,
                    "rdma.application." + name,
                    GAUGES.matcher(name).lookingAt() ? "gauge" : "counter",
                    meaning));
    return table.append('\n').toString();
  }

  private static String full(String label) {
    return label.startsWith("rdma.") ? label : "rdma." + label;
  }

  private static void row(StringBuilder table, String name, String type, String meaning) {
    table.append("| `%s` | %s | %s |\n".formatted(name, type, meaning));
  }

  /** Comments by label, in the order of the source, without their last full stop. */
  private static Map<String, String> meanings(String file, Pattern pattern) throws IOException {
    Map<String, String> meanings = new LinkedHashMap<>();
    for (MatchResult found :
        pattern.matcher(Files.readString(SOURCES.resolve(file))).results().toList()) {
      meanings.put(found.group(2), plain(found.group(1)));
    }
    assertThat(meanings).isNotEmpty();
    return meanings;
  }

  private static String plain(String comment) {
    return comment
        .replaceAll("\n +\\*", " ")
        .replaceAll("\\{@code\\s+([^}]*)}", "`$1`")
        .replaceAll(" +", " ")
        .strip()
        .replaceAll("\\.$", "");
  }
}
