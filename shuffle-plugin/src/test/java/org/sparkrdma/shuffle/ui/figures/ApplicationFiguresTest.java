// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.figures;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ApplicationFiguresTest {
  @Test
  void shouldAddOnePointOfAllExecutorsThatReportTogether() {
    ApplicationFigures figures = new ApplicationFigures();
    figures.report(
        Map.of(
            "1", Map.of("engine", "soft", "read", 5L), "2", Map.of("engine", "soft", "read", 7L)),
        1_000);
    assertThat(figures.toMap().get("series")).isEqualTo(List.of(List.of(1_000L, 12L, 0L, 0L, 0L)));
  }

  @Test
  void shouldForgetTheEarliestRemovedExecutors() {
    ApplicationFigures figures = new ApplicationFigures();
    figures.report("stays", Map.of("engine", "soft"), 0);
    for (int i = 0; i < 5_000; i++) {
      figures.report("e" + i, Map.of("engine", "soft"), 0);
      figures.remove("e" + i, "idle");
      figures.addTask("e" + i, i, 1, 1, 0);
    }
    Snapshot shown = figures.snapshot(0);
    assertThat(shown.executors())
        .hasSize(2_000)
        .containsKeys("stays", "e4999")
        .doesNotContainKey("e10");
    assertThat(shown.stages()).hasSize(500).last().extracting(StageBytes::stageId).isEqualTo(4_999);
  }
}
