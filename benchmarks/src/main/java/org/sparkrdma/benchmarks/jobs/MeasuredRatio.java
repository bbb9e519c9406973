// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.CaseReport;
import org.sparkrdma.launch.DataSize;

/**
 * One value of a ratio in a report.
 *
 * @param shape job and shape, or length and verification of transferred blocks
 * @param ratio what is divided by what
 * @param value of one round of a job; of transfers the median of the rounds
 */
public record MeasuredRatio(
    String shape, String ratio, String metric, boolean lessIsBetter, double value) {
  private static final String TRANSFER_RATIO = "rdma / netty";

  /** Reads reports of other versions too. */
  private static final ObjectMapper JSON =
      new ObjectMapper().configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false);

  /**
   * The ratios in the report of a job, of transfers or of latencies. Older reports have each ratio
   * of a latency under a name of its own, and older ones of transfers have the cases elsewhere.
   *
   * @throws IOException if it is no such report
   */
  public static List<MeasuredRatio> of(JsonNode report) throws IOException {
    if (!report.isObject()) {
      throw new IOException("the report is no JSON object");
    }
    JsonNode cases = report.has("results") ? report.at("/results/cases") : report.path("cases");
    List<MeasuredRatio> ratios = new ArrayList<>();
    for (JsonNode one : cases) {
      JsonNode figures = one.has("figures") ? one.path("figures") : one.path("ratios");
      if (figures.has("p50")) {
        addLatency(one, figures.path("p50"), figures.path("p99"), ratios);
      } else if (one.has("p50Ratio")) {
        addLatency(one, one.path("p50Ratio"), one.path("p99Ratio"), ratios);
      } else if (figures.has("throughput")) {
        String shape = blocks(one) + ", verify " + one.path("verify").asText();
        ratios.add(ofBlocks(shape, "throughput", false, figures.path("throughput")));
        ratios.add(ofBlocks(shape, "server CPU", true, figures.path("serverCpu")));
        ratios.add(ofBlocks(shape, "client CPU", true, figures.path("clientCpu")));
      }
    }
    return ratios.isEmpty() ? ofJob(JSON.treeToValue(report, BenchmarkReport.class)) : ratios;
  }

  private static void addLatency(
      JsonNode one, JsonNode p50, JsonNode p99, List<MeasuredRatio> ratios) {
    String shape = blocks(one) + ", batch " + one.path("batch").asInt();
    ratios.add(ofBlocks(shape, "p50", true, p50));
    ratios.add(ofBlocks(shape, "p99", true, p99));
  }

  private static String blocks(JsonNode one) {
    return new DataSize(one.path("blockBytes").asLong()).toString();
  }

  private static MeasuredRatio ofBlocks(
      String shape, String metric, boolean lessIsBetter, JsonNode spread) {
    return new MeasuredRatio(
        shape, TRANSFER_RATIO, metric, lessIsBetter, spread.path("median").asDouble(Double.NaN));
  }

  private static List<MeasuredRatio> ofJob(BenchmarkReport report) {
    List<MeasuredRatio> ratios = new ArrayList<>();
    for (CaseReport one : report.cases()) {
      String shape = report.plan().job() + " " + one.shape();
      List<CaseReport.Summary> others = one.summaries().subList(1, one.summaries().size());
      for (CaseReport.Summary summary : others) {
        String ratio = summary.mode() + " / " + report.plan().modes().get(0);
        for (BenchmarkReport.Metric metric : BenchmarkReport.Metric.values()) {
          one.ratios(summary.mode(), metric::of)
              .forEach(
                  value ->
                      ratios.add(new MeasuredRatio(shape, ratio, metric.toString(), true, value)));
        }
      }
    }
    return ratios;
  }

  /** Whether this is the same quantity as another one, of another run. */
  boolean isSameQuantity(MeasuredRatio other) {
    return shape.equals(other.shape) && ratio.equals(other.ratio) && metric.equals(other.metric);
  }
}
