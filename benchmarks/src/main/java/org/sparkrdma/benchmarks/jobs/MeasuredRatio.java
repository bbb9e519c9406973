// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.CaseReport;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.MisuseException;
import org.sparkrdma.launch.Quartiles;

/**
 * A ratio that reports have.
 *
 * @param shape job and shape, or length and verification of transferred blocks
 * @param ratio what is divided by what
 */
public record MeasuredRatio(String shape, String ratio, String metric, boolean lessIsBetter) {
  private static final String TRANSFER_RATIO = "rdma / netty";
  private static final String THROUGHPUT = "throughput";

  /** The metrics of transfers, by the names of their figures. */
  private static final Map<String, String> TRANSFER_METRICS =
      Map.of(
          THROUGHPUT,
          THROUGHPUT,
          "serverCpu",
          "server CPU",
          "clientCpu",
          "client CPU",
          "p50",
          "p50",
          "p99",
          "p99",
          "first",
          "first request");

  /**
   * The values of one ratio in a report.
   *
   * @param spread median and quartiles of the rounds
   * @param values of a job one for each round; of transfers the median, because rounds in the same
   *     executors depend on each other
   */
  public record Values(Quartiles spread, List<Double> values) {}

  /** The same as {@link #of}, of a file that the user names. */
  public static Map<MeasuredRatio, Values> read(Path report) {
    try {
      return of(new ObjectMapper().readTree(report.toFile()));
    } catch (IOException e) {
      throw new MisuseException("not a readable report of ./bench with ratios: " + report);
    }
  }

  /**
   * The ratios in the report of a job or of transfers, in their order there.
   *
   * @throws IOException if it is no such report
   */
  public static Map<MeasuredRatio, Values> of(JsonNode report) throws IOException {
    if (!report.isObject()) {
      throw new IOException("the report is no JSON object");
    }
    Map<MeasuredRatio, Values> ratios = new LinkedHashMap<>();
    for (JsonNode one : report.path("cases")) {
      Iterator<String> figures = one.path("figures").fieldNames();
      while (figures.hasNext()) {
        String figure = figures.next();
        String metric = TRANSFER_METRICS.get(figure);
        if (metric != null) {
          boolean isSpeed = figure.equals(THROUGHPUT);
          Quartiles spread =
              BenchmarkReport.JSON.treeToValue(one.at("/figures/" + figure), Quartiles.class);
          ratios.put(
              new MeasuredRatio(shape(one), TRANSFER_RATIO, metric, !isSpeed),
              new Values(spread, List.of(spread.median())));
        }
      }
    }
    if (ratios.isEmpty()) {
      addJob(BenchmarkReport.JSON.treeToValue(report, BenchmarkReport.class), ratios);
    }
    return ratios;
  }

  /** Length of the blocks and what else distinguishes a case of transfers. */
  private static String shape(JsonNode one) {
    String blocks = new DataSize(one.path("blockBytes").asLong()).toString();
    return blocks
        + (one.path("figures").has(THROUGHPUT)
            ? ", verify " + one.path("verify").asText()
            : ", batch " + one.path("batch").asInt())
        + (one.path("copy").asBoolean() ? ", copies" : "");
  }

  private static void addJob(BenchmarkReport report, Map<MeasuredRatio, Values> ratios) {
    for (CaseReport one : report.cases()) {
      String shape = report.name(one);
      for (CaseReport.Summary summary : one.others()) {
        String ratio = summary.mode() + " / " + report.plan().modes().get(0);
        for (BenchmarkReport.Metric metric : BenchmarkReport.Metric.values()) {
          List<Double> values = one.ratios(summary.mode(), metric::of);
          if (!values.isEmpty()) {
            ratios.put(
                new MeasuredRatio(shape, ratio, metric.toString(), true),
                new Values(Quartiles.of(values, Double::doubleValue), values));
          }
        }
      }
    }
  }
}
