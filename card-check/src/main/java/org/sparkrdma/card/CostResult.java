// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Consumer;

/**
 * The costs of registering ranges of a file on the device, against copying them.
 *
 * @param figures those of {@link CostMain}; empty when they were not measured
 * @param error a sentence; empty after a measurement
 */
record CostResult(ObjectNode figures, String error) {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> PAGES = List.of("cold", "warm");

  static CostResult failed(String sentence) {
    return new CostResult(JSON.createObjectNode(), sentence);
  }

  /** Takes the output of {@link CostMain}. */
  static CostResult of(String json) {
    try {
      return JSON.readTree(json) instanceof ObjectNode figures && !figures.path("rows").isEmpty()
          ? new CostResult(figures, "")
          : failed("the measurement of costs printed no figures");
    } catch (IOException e) {
      return failed("the measurement of costs printed no JSON");
    }
  }

  /**
   * Measures in a process of its own.
   *
   * @param folder where the file is created
   * @param output receives lines for the user
   */
  static CostResult measure(
      Programs programs, CardDevice card, Path folder, TimeLimit limit, Consumer<String> output)
      throws IOException, InterruptedException {
    if (limit.left().isZero()) {
      return failed("not run, because the time limit was reached");
    }
    List<String> json = Collections.synchronizedList(new ArrayList<>());
    try (ChildProcess process =
        ChildProcess.start(programs.costs(card.name(), folder), Map.of(), json::add, output)) {
      OptionalInt code = process.await(limit.left());
      if (code.isEmpty()) {
        return failed("the measurement of costs did not end within the time limit");
      }
      return code.getAsInt() == 0
          ? of(String.join("\n", json))
          : failed("the measurement of costs ended with exit code " + code.getAsInt());
    }
  }

  boolean succeeded() {
    return error.isEmpty();
  }

  /** Lines of the table for docs/cards.md: for each length those of cold and of warm pages. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    for (JsonNode row : figures.path("rows")) {
      for (String pages : PAGES) {
        JsonNode register = row.path(pages).path("registerUs");
        JsonNode copy = row.path(pages).path("copyUs");
        double copyUs = copy.path("median").asDouble();
        lines.add(
            String.format(
                Locale.ROOT,
                "| %d KiB | %s | %s | %s | %.2f |",
                row.path("bytes").asInt() >> 10,
                pages,
                spread(register),
                spread(copy),
                copyUs > 0 ? register.path("median").asDouble() / copyUs : 0));
      }
    }
    return lines;
  }

  private static String spread(JsonNode us) {
    return String.format(
        Locale.ROOT,
        "%.1f (%.1f..%.1f)",
        us.path("median").asDouble(),
        us.path("lower").asDouble(),
        us.path("upper").asDouble());
  }
}
