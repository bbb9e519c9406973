// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkrdma.benchmarks.tera.GeneratedInput;

class ReportTest {
  private static final GeneratedInput INPUT = new GeneratedInput(1_000, "ab");

  @Test
  void shouldWriteTheDocumentedForm() throws Exception {
    ObjectMapper json = new ObjectMapper();
    Report report = new Report(List.of(run(ShuffleMode.RDMA, 1_000, "ab")));
    assertThat(json.readTree(json.writeValueAsString(report)))
        .isEqualTo(
            json.readTree(
                """
                    {"runs":[{"mode":"rdma","seconds":2.5,"records":1000,"checksum":"ab",
                      "bytes":{"rdma":2048,"tcp":1,"local":0},"fallbacks":{"pool":2},
                      "executorCpuSeconds":7.25}]}
                    """));
  }

  @Test
  void shouldAgreeWhenAllRunsHaveWhatTheInputHas() {
    var report =
        new Report(
            List.of(run(ShuffleMode.VANILLA, 1_000, "ab"), run(ShuffleMode.RDMA, 1_000, "ab")));
    assertThat(report.disagreement(INPUT)).isEmpty();
  }

  @Test
  void shouldNameTheRunWhoseChecksumDiffers() {
    var report =
        new Report(
            List.of(run(ShuffleMode.VANILLA, 1_000, "ab"), run(ShuffleMode.RDMA, 1_000, "ac")));
    assertThat(report.disagreement(INPUT))
        .hasValueSatisfying(text -> assertThat(text).startsWith("the rdma run lost or changed"));
  }

  @Test
  void shouldNameTheRunThatLostARecord() {
    var report = new Report(List.of(run(ShuffleMode.FALLBACK, 999, "ab")));
    assertThat(report.disagreement(INPUT))
        .hasValueSatisfying(text -> assertThat(text).contains("records=999"));
  }

  @Test
  void shouldPrintATableWithAlignedColumns() {
    var report =
        new Report(
            List.of(
                run(ShuffleMode.VANILLA, 1_000, "ab"), run(ShuffleMode.FALLBACK, 12_345, "ab")));
    List<String> lines = SummaryTable.of(report).lines().toList();
    assertThat(lines).hasSize(3);
    assertThat(lines.get(0)).startsWith("shuffle ").endsWith("fallbacks");
    assertThat(lines.get(1)).startsWith("vanilla ").contains(" 1,000 ", "2 KiB").endsWith("pool=2");
    assertThat(lines.get(2)).startsWith("fallback ").contains("12,345");
    assertThat(lines)
        .allSatisfy(
            line ->
                assertThat(line.indexOf(line.equals(lines.get(0)) ? "fallbacks" : "pool=2"))
                    .isEqualTo(lines.get(0).indexOf("fallbacks")));
  }

  private static RunReport run(ShuffleMode mode, long records, String checksum) {
    return new RunReport(
        mode, 2.5, records, checksum, new RunReport.Bytes(2_048, 1, 0), Map.of("pool", 2L), 7.25);
  }
}
