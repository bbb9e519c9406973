// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/**
 * Figures of {@code perf client}, without its addresses.
 *
 * @param rows an object for each length, with bytes, read, tcp and the ratio of their speeds
 * @param error a sentence; empty after a measurement
 */
record TransferResult(ArrayNode rows, String error) {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final double MIB = 1 << 20;
  private static final List<String> FIGURES =
      List.of("bytesPerSecond", "medianNs", "p99Ns", "clientCpuNsPerGib", "serverCpuNsPerGib");

  static TransferResult failed(String sentence) {
    return new TransferResult(JSON.createArrayNode(), sentence);
  }

  /** Takes the numbers from the output of {@code perf client --json}. */
  static TransferResult of(String json) {
    try {
      ArrayNode rows = JSON.createArrayNode();
      for (JsonNode row : JSON.readTree(json).path("rows")) {
        ObjectNode copy = rows.addObject();
        copy.put("bytes", row.path("bytes").asInt());
        for (String way : List.of("read", "tcp")) {
          ObjectNode figures = copy.putObject(way);
          FIGURES.forEach(name -> figures.put(name, row.path(way).path(name).asLong()));
        }
        double read = row.at("/read/bytesPerSecond").asDouble();
        double tcp = row.at("/tcp/bytesPerSecond").asDouble();
        copy.put("ratio", tcp > 0 ? Math.round(read / tcp * 100) / 100.0 : 0);
      }
      return rows.isEmpty() ? failed("perf printed no figures") : new TransferResult(rows, "");
    } catch (IOException e) {
      return failed("perf printed no JSON");
    }
  }

  boolean succeeded() {
    return error.isEmpty();
  }

  /** A line for each length. */
  List<String> lines() {
    return StreamSupport.stream(rows.spliterator(), false)
        .map(
            row ->
                String.format(
                    Locale.ROOT,
                    "%8d bytes: READ %.1f MiB/s, TCP %.1f MiB/s, ratio %.2f",
                    row.path("bytes").asInt(),
                    row.at("/read/bytesPerSecond").asLong() / MIB,
                    row.at("/tcp/bytesPerSecond").asLong() / MIB,
                    row.path("ratio").asDouble()))
        .toList();
  }

  /** The ratios as one text. */
  String ratios() {
    return succeeded()
        ? StreamSupport.stream(rows.spliterator(), false)
            .map(row -> row.path("ratio").asText())
            .collect(Collectors.joining(", "))
        : "failed";
  }
}
