// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.TestInfo;

/**
 * Rows of {@code fault-table.json} that a test class of this module measures: one row for each
 * fault of a peer. FaultsSuite of integration-tests merges them with its own. Nothing is written on
 * engines other than the plain loopback engine, because they run the same faults.
 */
final class FaultRows {
  private static final Path FOLDER = Path.of("target", "fault-rows");

  private final String file;
  private final Map<String, String> rows = new LinkedHashMap<>();

  /**
   * @param file name of the file, which no other test class writes
   */
  FaultRows(String file) {
    this.file = file;
  }

  /**
   * Adds the row of a test.
   *
   * @param hits how often the fault happened
   * @param right whether all blocks that were read have the expected bytes, by comparison
   * @param reasons number of blocks by TCP for each fallback reason
   * @param counters of the executor that recovers
   */
  void add(
      TestInfo test,
      long hits,
      boolean right,
      double seconds,
      Map<String, Long> reasons,
      Map<String, Long> counters) {
    String name = words(test.getTestMethod().orElseThrow().getName());
    Map<String, Long> grown = new TreeMap<>(counters);
    grown.values().removeIf(count -> count == 0);
    long byTcp = reasons.values().stream().mapToLong(Long::longValue).sum();
    rows.put(
        name,
        List.of(
                field("name", quoted(name)),
                field("engine", quoted("soft")),
                field("where", quoted("server")),
                field("hits", Long.toString(hits)),
                field("answerRight", Boolean.toString(right)),
                field("seconds", String.format(Locale.ROOT, "%.1f", seconds)),
                field("blocksByRead", Long.toString(grown.getOrDefault("rdma.blocks.read", 0L))),
                field("blocksByTcp", Long.toString(byTcp)),
                field("reasons", object(new TreeMap<>(reasons))),
                field("recovery", quoted(text(grown))))
            .stream()
            .collect(Collectors.joining(",", "  {", "}")));
  }

  /** Writes the rows of all tests, one in each line. */
  void write() throws IOException {
    if (TestEngine.isSoft() && !TestEngine.isHelloBySend()) {
      Files.createDirectories(FOLDER);
      Files.write(FOLDER.resolve(file), rows.values());
    }
  }

  /** The name of a method as words. */
  private static String words(String method) {
    return method.replaceAll("([A-Z])", " $1").toLowerCase(Locale.ROOT);
  }

  private static String text(Map<String, Long> values) {
    return values.entrySet().stream()
        .map(value -> value.getKey() + " " + value.getValue())
        .collect(Collectors.joining(", "));
  }

  private static String object(Map<String, Long> values) {
    return values.entrySet().stream()
        .map(value -> field(value.getKey(), value.getValue().toString()))
        .collect(Collectors.joining(",", "{", "}"));
  }

  private static String field(String name, String value) {
    return quoted(name) + ":" + value;
  }

  private static String quoted(String text) {
    return "\"" + text + "\"";
  }
}
