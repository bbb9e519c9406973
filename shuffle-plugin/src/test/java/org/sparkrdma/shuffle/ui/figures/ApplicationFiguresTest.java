// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.figures;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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
  void shouldSummarizeBytesByPathFallbacksByReasonAndTheHighestPinnedMemoryOfAnExecutor() {
    ApplicationFigures figures = new ApplicationFigures();
    figures.report(
        "1", Map.of("read", 5L, "copied", 2L, "highest", 8_192L, "fallback.timeout", 3L), 0);
    figures.report(
        "2", Map.of("tcp", 7L, "highest", 4_096L, "fallback.timeout", 1L, "fallback.disk", 2L), 0);
    figures.report("2", Map.of("quarantines", 4L, "fallback.no-endpoint", 9L), 0);
    figures.addTask("1", 0, 5, 11, 0);
    assertThat(figures.totals().summary())
        .isEqualTo(
            "readBytes=5 copiedBytes=2 tcpBytes=7 localBytes=11 fallbackBlocks=6 quarantines=4"
                + " fallbacks={disk=2, no-endpoint=9, timeout=4} highestPinnedBytes=8192");
  }

  @Test
  @Timeout(60)
  void shouldWaitUntilExecutorsHaveReportedWhatTheirTasksHaveRead() throws Exception {
    ApplicationFigures figures = new ApplicationFigures();
    figures.addTask("1", 0, 5, 11, 0);
    figures.addTask("off", 0, 3, 0, 0);
    figures.report("off", Map.of("state", "off"), 0);
    figures.addTask("lost", 0, 7, 0, 0);
    figures.remove("lost", "killed");
    figures.report("1", Map.of("state", "up", "read", 4L), 0);
    figures.awaitReports(Duration.ofMillis(1));
    CompletableFuture<Void> waited = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                figures.awaitReports(Duration.ofDays(1));
                waited.complete(null);
              } catch (Throwable e) {
                waited.completeExceptionally(e);
              }
            });
    thread.start();
    while (thread.getState() != Thread.State.TIMED_WAITING) {
      assertThat(waited).isNotDone();
      Thread.onSpinWait();
    }
    figures.report("1", Map.of("read", 4L, "tcp", 1L), 0);
    waited.get();
    thread.join();
  }

  @Test
  void shouldKeepTheHighestPinnedMemoryWhenRdmaStartsAgain() {
    ApplicationFigures figures = new ApplicationFigures();
    figures.report("1", Map.of("highest", 8_192L), 0);
    figures.report("1", Map.of("highest", 4_096L), 1);
    assertThat(figures.totals().sums().highestPinnedBytes()).isEqualTo(8_192);
    figures.report("1", Map.of("highest", 16_384L), 2);
    assertThat(figures.totals().sums().highestPinnedBytes()).isEqualTo(16_384);
  }

  @Test
  void shouldKeepTheSumsOfExecutorsThatItForgets() {
    ApplicationFigures figures = new ApplicationFigures();
    long executors = 3_000;
    for (int i = 0; i < executors; i++) {
      long highest = executors - i;
      figures.report(
          "e" + i,
          Map.of("read", 2L, "quarantines", 1L, "highest", highest, "fallback.timeout", 3L),
          0);
      figures.remove("e" + i, "idle");
    }
    assertThat(figures.totals().summary())
        .isEqualTo(
            "readBytes=6000 copiedBytes=0 tcpBytes=0 localBytes=0 fallbackBlocks=9000"
                + " quarantines=3000 fallbacks={timeout=9000} highestPinnedBytes=3000");
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
