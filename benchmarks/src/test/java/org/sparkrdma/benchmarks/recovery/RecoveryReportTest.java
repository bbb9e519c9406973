// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.recovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import org.junit.jupiter.api.Test;

class RecoveryReportTest {
  private static final RecoveryReport REPORT =
      new RecoveryReport(
          new RecoveryPlan(32, 32, 1_024, 8, 1, 7),
          List.of(pair(10, 9), pair(8, 12), pair(20, 10)));

  @Test
  void shouldCompareTheMediansOfTheTimeFromTheLossToTheEnd() {
    assertThat(REPORT.ratioOfMedians()).isCloseTo(1.0, within(1e-9));
    assertThat(REPORT.ratiosOfPairs().format(2)).isEqualTo("0.90 (0.50..1.50)");
    assertThat(REPORT.table()).contains("10.00 (8.00..20.00)").contains("10.00 (9.00..12.00)");
  }

  @Test
  void shouldWriteEveryFigureAndTheRatio() {
    JsonNode json = new ObjectMapper().valueToTree(REPORT);
    assertThat(json.path("ratioOfMedians").asDouble()).isCloseTo(1.0, within(1e-9));
    assertThat(json.path("pairs").path(1).path("rdma").path("recoverySeconds").asDouble())
        .isEqualTo(12);
    assertThat(json.path("plan").path("killAfter").asInt()).isEqualTo(8);
  }

  private static RecoveryReport.Pair pair(double vanilla, double rdma) {
    return new RecoveryReport.Pair(result(vanilla), result(rdma));
  }

  private static RecoveryResult result(double recoverySeconds) {
    return new RecoveryResult(1, 2 * recoverySeconds, recoverySeconds, 1, 1, 5, 6);
  }
}
