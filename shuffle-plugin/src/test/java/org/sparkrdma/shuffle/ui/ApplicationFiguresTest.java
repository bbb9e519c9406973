// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ApplicationFiguresTest {
  private final ApplicationFigures figures = new ApplicationFigures(true);

  @Test
  @Timeout(60)
  void shouldWaitUntilExecutorsHaveReportedWhatTheirTasksHaveRead() throws Exception {
    Predicate<String> reporters = executorId -> !executorId.equals("silent");
    figures.addTask("1", 0, 5, 11);
    figures.addTask("off", 0, 3, 0);
    figures.report("off", Map.of("state", "off"));
    figures.addTask("lost", 0, 7, 0);
    figures.remove("lost", "killed");
    figures.addTask("silent", 0, 9, 0);
    figures.report("1", Map.of("state", "up", "read", 4L, "broadcast", 100L));
    figures.awaitReports(Duration.ofMillis(1), reporters);
    CompletableFuture<Void> waited = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                figures.awaitReports(Duration.ofDays(1), reporters);
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
    figures.report("1", Map.of("read", 4L, "tcp", 1L));
    waited.get();
    thread.join();
  }

  @Test
  void shouldRemoveALostExecutorUnlessSparkHasSaidWhy() {
    figures.report("1", Map.of("state", "up"));
    figures.report("2", Map.of("state", "up"));
    figures.remove("2", "killed");
    figures.remove("3", "x".repeat(100_000));
    assertThat(figures.snapshot().executors().get("3").state()).hasSizeLessThan(1_300);
    List.of("1", "2", "never seen").forEach(figures::removeLost);
    assertThat(figures.snapshot().executors()).containsOnlyKeys("1", "2", "3");
    assertThat(figures.snapshot().executors().get("1").state()).contains("does not know it");
    assertThat(figures.snapshot().executors().get("2").state()).isEqualTo("lost: killed");
    assertThat(figures.totals().withRdma()).isZero();
  }

  @Test
  void shouldAddWhatEachReportAddsToAStage() {
    figures.report("1", Map.of("stages", List.of(0L, 4L, 100L, 10L, 5L)));
    figures.report("1", Map.of("stages", List.of(0L, 4L, 100L, 10L, 5L)));
    figures.report("2", Map.of("stages", List.of(0L, 4L, 7L, 0L, 0L)));
    assertThat(received(4)).isEqualTo(new BytesByPath(107, 10, 5, 0));
    figures.report("1", Map.of("stages", List.of(0L, 4L, 130L, 10L, 6L, 1L, 5L, 0L, 0L, 9L)));
    assertThat(received(4)).isEqualTo(new BytesByPath(137, 10, 6, 0));
    assertThat(received(5)).isEqualTo(new BytesByPath(0, 0, 9, 0));
    figures.remove("1", "killed");
    figures.report("1", Map.of("stages", List.of(0L, 4L, 131L, 10L, 6L)));
    assertThat(received(4)).as("the last report").isEqualTo(new BytesByPath(138, 10, 6, 0));
  }

  @Test
  void shouldCountAStageThatAnExecutorHasForgottenFromZero() {
    figures.report("1", Map.of("stages", List.of(0L, 4L, 100L, 0L, 0L)));
    figures.report("1", Map.of("stages", List.of(9L, 4L, 130L, 0L, 0L)));
    assertThat(received(4)).as("another number").isEqualTo(new BytesByPath(230, 0, 0, 0));
    figures.report("1", Map.of());
    figures.report("1", Map.of("stages", List.of(10L, 4L, 1L, 0L, 0L)));
    assertThat(received(4)).isEqualTo(new BytesByPath(231, 0, 0, 0));
  }

  private BytesByPath received(int stageId) {
    return figures.snapshot().stages().stream()
        .filter(stage -> stage.stageId() == stageId)
        .map(stage -> new BytesByPath(stage.read(), stage.copied(), stage.tcp(), 0))
        .findFirst()
        .orElseThrow();
  }
}
