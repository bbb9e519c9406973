// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.Gauge;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.figures.ApplicationFigures;
import org.sparkrdma.shuffle.figures.BytesByPath;
import org.sparkrdma.shuffle.figures.Changes;
import org.sparkrdma.shuffle.figures.Snapshot;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

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

  /** Nobody takes the changes meanwhile, as between two events of a large application. */
  @Test
  void shouldBeBoundedAlsoWhenEachExecutorEndsForAReasonOfItsOwn() {
    int ended = 100_000;
    String tail = "x".repeat(1_000);
    for (int i = 0; i < ended; i++) {
      String id = Integer.toString(i);
      figures.start(id, "host" + i);
      figures.report(
          id,
          Map.of("state", "off", "reasons", "no device " + i + tail, "read", 1L, "name" + i, 1L));
      figures.addTask(id, i, 2, 1);
      figures.remove(id, "killed " + i);
    }
    figures.report("running", Map.of("state", "off", "reasons", "no device 1" + tail));
    assertThat(figures.totals().summary())
        .hasSizeLessThan(7_000)
        .contains("readBytes=" + ended, "no device 3" + tail + "=1", "no device 1" + tail + "=2")
        .endsWith("} and " + (ended - 5) + " others");
    Snapshot snapshot = figures.snapshot();
    assertThat(snapshot.executors()).hasSize(ApplicationFigures.MAX_REMOVED + 1);
    assertThat(snapshot.stages()).hasSize(ApplicationFigures.MAX_STAGES);
    Changes changes = figures.takeChanges(0).orElseThrow();
    int most = ApplicationFigures.MAX_CHANGED + ApplicationFigures.MAX_REMOVED;
    assertThat(changes.figures()).hasSizeBetween(ApplicationFigures.MAX_CHANGED, most);
    assertThat(changes.sparkExecutors()).hasSizeBetween(ApplicationFigures.MAX_CHANGED, most);
    assertThat(changes.stages()).hasSize(ApplicationFigures.MAX_STAGES);
  }

  @Test
  void shouldKeepABoundedNumberOfFiguresOfAnExecutor() {
    for (int i = 0; i < 1_000; i++) {
      figures.report("1", Map.of("name" + i, 1L));
    }
    figures.report("1", Map.of("name0", 5L));
    assertThat(figures.takeChanges(0).orElseThrow().figures().get("1"))
        .hasSize(100)
        .containsEntry("name0", 5L);
  }

  @Test
  void shouldSumOnceForAllGaugesOfAScrape() {
    AtomicInteger sums = new AtomicInteger();
    AtomicLong nowNs = new AtomicLong();
    ApplicationMetricsSource source =
        new ApplicationMetricsSource(
            () -> {
              sums.incrementAndGet();
              return figures.totals();
            },
            nowNs::get);
    for (long scrape = 1; scrape <= 3; scrape++) {
      figures.report("1", Map.of("read", scrape));
      for (Gauge<?> gauge : source.metricRegistry().getGauges().values()) {
        assertThat(gauge.getValue()).isNotNull();
      }
      Gauge<?> read = source.metricRegistry().getGauges().get("bytes.read");
      assertThat(read.getValue()).isEqualTo(scrape);
      assertThat(sums).hasValue((int) scrape);
      nowNs.addAndGet(1_000_000_000L);
    }
  }

  /** Property: the sum of the reports is the sum of what was added. */
  @Test
  void shouldLoseNoBytesOfAStageHoweverManyReadBetweenTwoReports() {
    Random random = new Random(7);
    ShuffleCounters counters = new ShuffleCounters();
    BytesByPath[] expected = new BytesByPath[500];
    Arrays.fill(expected, BytesByPath.NONE);
    for (int round = 0; round < 200; round++) {
      for (int i = random.nextInt(1_000); i > 0; i--) {
        int stage = random.nextInt(expected.length);
        BytesByPath more =
            new BytesByPath(random.nextInt(9), random.nextInt(9), random.nextInt(9), 0);
        if (more.read() + more.tcp() > 0) {
          expected[stage] = expected[stage].plus(more);
        }
        counters.stages().add(stage, more.read(), more.copied(), more.tcp());
      }
      boolean more = true;
      while (more) {
        List<Long> report = counters.stages().report();
        if (random.nextInt(4) > 0) {
          figures.report("1", report.isEmpty() ? Map.of() : Map.of("stages", report));
        }
        // The report or its answer was lost, or the driver has taken it.
        boolean arrived = random.nextInt(4) > 0;
        if (arrived) {
          figures.report("1", report.isEmpty() ? Map.of() : Map.of("stages", report));
        }
        more = arrived && counters.stages().taken();
      }
    }
    while (!counters.stages().report().isEmpty()) {
      figures.report("1", Map.of("stages", counters.stages().report()));
      counters.stages().taken();
    }
    for (int stage = 0; stage < expected.length; stage++) {
      assertThat(received(stage)).as("stage %d", stage).isEqualTo(expected[stage]);
    }
  }

  private BytesByPath received(int stageId) {
    return figures.snapshot().stages().stream()
        .filter(stage -> stage.stageId() == stageId)
        .map(stage -> new BytesByPath(stage.read(), stage.copied(), stage.tcp(), 0))
        .findFirst()
        .orElseThrow();
  }
}
