// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CaseReportTest {
  private static final long GB = 1_000_000_000;

  @Test
  void shouldTakeTheMedianOfTheRatiosOfEachRound() {
    CaseReport report = report();
    assertThat(report.throughputRatio()).isCloseTo(4, within(1e-9));
    assertThat(report.ratios().get("throughput")).isEqualTo(new Spread(4, 2, 10));
    assertThat(report.serverCpuRatio()).isCloseTo(0.05, within(1e-9));
    assertThat(report.clientCpuRatio()).isCloseTo(0.5, within(1e-9));
    assertThat(report.rdma().gbPerSecond().median()).isCloseTo(4, within(1e-9));
    assertThat(report.netty().serverCpuSecondsPerGb().median()).isCloseTo(0.4, within(1e-9));
  }

  @Test
  void shouldGiveThePlugInsCountersForOneRound() {
    assertThat(report().counters()).isEqualTo(Map.of("serve.windows.evicted", 20L));
  }

  @Test
  void shouldTakeTheMiddleOfTwoWhenTheirNumberIsEven() {
    assertThat(Spread.of(List.of(4.0, 1.0, 2.0, 9.0), value -> value))
        .isEqualTo(new Spread(3, 1, 9));
  }

  @Test
  void shouldWriteTheDocumentedForm() {
    JsonNode one =
        new ObjectMapper().valueToTree(new TransferReport(List.of(report()))).path("cases").path(0);
    assertThat(one.path("engine").asText()).isEqualTo("soft");
    assertThat(one.path("blockBytes").asInt()).isEqualTo(4_096);
    assertThat(one.path("verify").asText()).isEqualTo("adler32");
    assertThat(one.path("throughputRatio").asDouble()).isCloseTo(4, within(1e-9));
    assertThat(one.path("serverCpuRatio").asDouble()).isCloseTo(0.05, within(1e-9));
    assertThat(one.path("clientCpuRatio").asDouble()).isCloseTo(0.5, within(1e-9));
    assertThat(one.path("rdma").path("gbPerSecond").path("max").asDouble())
        .isCloseTo(10, within(1e-9));
    assertThat(one.path("copies").path("clientCpuRatio").path("median").asDouble())
        .isCloseTo(0.75, within(1e-9));
  }

  @Test
  void shouldPrintARowForEachCaseInEveryTable() {
    assertThat(TransferTable.of(new TransferReport(List.of(report()))).lines())
        .anySatisfy(line -> assertThat(line).startsWith("4 KiB").contains("4.00 (2.00..10.00)"))
        .anySatisfy(line -> assertThat(line).startsWith("4 KiB").endsWith(" 20"))
        .anySatisfy(line -> assertThat(line).startsWith("4 KiB").contains("10.00 (10.00..10.00)"));
  }

  @Test
  void shouldReadBackTheReportOfAnApplication() throws Exception {
    TransferResult result = new TransferResult(pairs(), null);
    ObjectMapper json = new ObjectMapper();
    assertThat(json.readValue(json.writeValueAsString(result), TransferResult.class))
        .isEqualTo(result);
  }

  private static CaseReport report() {
    return CaseReport.of("soft", VerifyMode.ADLER32, pairs());
  }

  private static List<RoundPair> pairs() {
    return List.of(pair(2), pair(10), pair(4));
  }

  private static CpuTime cpu(long ns) {
    return new CpuTime(ns, 0);
  }

  /** A pair in which netty has 1 GB/s and the plug-in this multiple of it. */
  private static RoundPair pair(long faster) {
    Map<String, Long> counters = Map.of("serve.windows.evicted", 20L);
    return new RoundPair(
        4_096,
        new Sample(
            TransferEngine.RDMA, GB, GB / faster, cpu(GB / 50), cpu(GB / 10), true, counters),
        new Sample(TransferEngine.NETTY, GB, GB, cpu(GB / 50 * 20), cpu(GB / 5), true, Map.of()),
        new CopyCost(0.1, 0.05));
  }
}
