// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.estimate;

import static java.util.stream.Collectors.joining;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * What a transfer costs by the length of its blocks, as reports of {@code ./bench transfer} have
 * it: that of Spark, and the plug-in's from registered files and from copies. Immutable.
 *
 * @param measured figures by length in bytes, of registered files (false) and of copies (true)
 * @param source where the figures are from
 */
record CostTable(Map<Boolean, NavigableMap<Long, JsonNode>> measured, String source) {
  /** Core-seconds of both ends for 10⁹ bytes, which add up. */
  private static final String[] SPARK_CPU = {"nettyServerSecondsPerGb", "nettyClientSecondsPerGb"};

  private static final String[] OWN_CPU = {"rdmaServerSecondsPerGb", "rdmaClientSecondsPerGb"};

  private static CostTable of(List<JsonNode> reports, String source) {
    Map<Boolean, NavigableMap<Long, JsonNode>> measured = new TreeMap<>();
    for (JsonNode report : reports) {
      for (JsonNode one : report.path("cases")) {
        if (one.path("kind").asText().equals("throughput") && one.path("blockBytes").asLong() > 0) {
          JsonNode figures = one.path("figures");
          sum(figures, SPARK_CPU);
          sum(figures, OWN_CPU);
          sum(figures, "nettyGbPerSecond", "rdmaGbPerSecond");
          measured
              .computeIfAbsent(one.path("copy").asBoolean(), copies -> new TreeMap<>())
              .putIfAbsent(one.path("blockBytes").asLong(), figures);
        }
      }
    }
    if (measured.isEmpty()) {
      throw new IllegalArgumentException("no case of kind throughput");
    }
    measured.putIfAbsent(true, measured.get(false));
    measured.putIfAbsent(false, measured.get(true));
    return new CostTable(measured, source);
  }

  /** The table of the published reports. */
  static CostTable published() throws IOException {
    JsonNode table = new ObjectMapper().readTree(CostTable.class.getResourceAsStream("costs.json"));
    String source = "the published report, " + table.at("/environments/0/version").asText();
    return of(List.of(table), source);
  }

  /**
   * The table of reports that a user has measured. Where they have one of the two ways only, it is
   * taken for the other.
   *
   * @throws IllegalArgumentException for a file that is not such a report, with the reason
   */
  static CostTable measured(List<Path> reports) {
    String names = reports.stream().map(Path::toString).collect(joining(","));
    try {
      List<JsonNode> trees = new ArrayList<>();
      for (Path report : reports) {
        trees.add(new ObjectMapper().readTree(report.toFile()));
      }
      return of(trees, names);
    } catch (IOException | IllegalArgumentException e) {
      String allowed = "a report of ./bench transfer, with cases of kind throughput";
      throw Estimate.wrong("--costs", names, allowed, e);
    }
  }

  /** Core-seconds of both ends that the plug-in saves for each 10⁹ bytes; may be negative. */
  double savedCpuSeconds(boolean copies, double blockBytes) {
    return at(copies, blockBytes, SPARK_CPU) - at(copies, blockBytes, OWN_CPU);
  }

  /** The part of the time of Spark's transfer that the plug-in's saves, below 1. */
  double savedTime(boolean copies, double blockBytes) {
    double spark = at(copies, blockBytes, "nettyGbPerSecond");
    return 1 - spark / at(copies, blockBytes, "rdmaGbPerSecond");
  }

  /**
   * Between two measured lengths the logarithms of lengths and figures are on a line. Shorter
   * blocks cost as much each as the shortest that was measured, longer ones as much for each byte
   * as the longest. Of speeds only the ratio is right for shorter blocks.
   */
  private double at(boolean copies, double blockBytes, String... names) {
    Map.Entry<Long, JsonNode> below = measured.get(copies).floorEntry((long) blockBytes);
    Map.Entry<Long, JsonNode> above = measured.get(copies).higherEntry((long) blockBytes);
    if (below == null) {
      return sum(above.getValue(), names) * above.getKey() / Math.max(1, blockBytes);
    }
    double low = sum(below.getValue(), names);
    if (above == null) {
      return low;
    }
    double step = Math.log((double) above.getKey() / below.getKey());
    double place = Math.log(blockBytes / below.getKey()) / step;
    return low * Math.pow(sum(above.getValue(), names) / low, place);
  }

  private static double sum(JsonNode figures, String... names) {
    double sum = 0;
    for (String name : names) {
      double median = figures.path(name).path("median").asDouble();
      if (!(median > 0 && median < Double.POSITIVE_INFINITY)) {
        throw new IllegalArgumentException("no positive median of " + name);
      }
      sum += median;
    }
    return sum;
  }
}
