// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.figures;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.metrics.Figure;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.metrics.ShuffleCounters.StageReads;
import org.sparkrdma.shuffle.thread.ControlThread;

/** When figures of an executor are sent to the driver. */
@Timeout(30)
class FigureSenderTest {
  private final AtomicReference<Map<String, Object>> present =
      new AtomicReference<>(Map.of("read", 1L));
  private final LinkedBlockingQueue<Map<String, Object>> received = new LinkedBlockingQueue<>();
  private final AtomicBoolean takes = new AtomicBoolean(true);
  private final ControlThread control = new ControlThread();

  private boolean take(Map<String, Object> values) {
    received.add(values);
    return takes.get();
  }

  private Map<String, Object> awaitReport() throws InterruptedException {
    return received.poll(20, TimeUnit.SECONDS);
  }

  private FigureSender sender(Predicate<Map<String, Object>> driver) {
    return new FigureSender(driver, System::nanoTime, control);
  }

  @AfterEach
  void close() {
    control.shutdownNow();
  }

  @Test
  void shouldGiveTheFiguresAfterReadsToTheDriverUnlessAnotherTaskReads() throws Exception {
    AtomicBoolean looked = new AtomicBoolean();
    AtomicBoolean reading = new AtomicBoolean(true);
    try (FigureSender sender = sender(this::take)) {
      sender.reportSoon();
      sender.start(
          present::get,
          () -> false,
          () -> {
            looked.set(true);
            return reading.get();
          });
      assertThat(awaitReport()).isEqualTo(Map.of("read", 1L));
      present.set(Map.of("read", 5L));
      sender.reportSoon();
      sender.reportSoon();
      while (!looked.get()) {
        Thread.onSpinWait();
      }
      reading.set(false);
      sender.reportSoon();
      assertThat(awaitReport()).isEqualTo(Map.of("read", 5L));
    }
    assertThat(received).as("the driver has the last figures").isEmpty();
  }

  /** Its tasks read for a few milliseconds each, in a minute of short stages. */
  @Test
  void shouldReportOnceASecondAndOnceMoreAtTheEnd() {
    AtomicLong nowNs = new AtomicLong();
    Queue<Runnable> due = new ArrayDeque<>();
    AtomicLong dueNs = new AtomicLong(Long.MAX_VALUE);
    ScheduledExecutorService byHand =
        new ScheduledThreadPoolExecutor(1) {
          @Override
          public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            due.add(task);
            dueNs.set(nowNs.get() + unit.toNanos(delay));
            return null;
          }

          @Override
          public void execute(Runnable task) {
            task.run();
          }

          @Override
          public Future<?> submit(Runnable task) {
            task.run();
            return CompletableFuture.completedFuture(null);
          }
        };
    StageReads stages = new ShuffleCounters().stages();
    FigureSender sender = new FigureSender(this::take, nowNs::get, byHand);
    sender.start(
        () -> {
          List<Long> report = stages.report();
          return report.isEmpty() ? Map.of() : Map.of(Figure.STAGES, report);
        },
        stages::taken,
        () -> false);
    // The ticks of every five seconds.
    due.clear();
    for (int ms = 0; ms < 60_000; ms++) {
      nowNs.addAndGet(1_000_000);
      if (ms % 10 == 0) {
        stages.add(ms / 100, 1, 0, 0);
        sender.reportSoon();
      }
      if (!due.isEmpty() && nowNs.get() >= dueNs.get()) {
        due.remove().run();
      }
    }
    assertThat(received).hasSizeBetween(60, 60 + FigureSender.SOONER_REPORTS + 1);
    // The answer to a report is lost, and at the end more stages wait than one report has.
    takes.set(false);
    stages.add(599, 1, 0, 0);
    sender.reportNow();
    takes.set(true);
    for (int stage = 600; stage < 600 + 2 * StageReads.MAX_STAGES; stage++) {
      stages.add(stage, 1, 0, 0);
    }
    sender.reportNow();
    Map<Object, Long> bytes = new HashMap<>();
    for (Map<String, Object> report : received) {
      List<?> list = (List<?>) report.get(Figure.STAGES);
      long sum = 0;
      for (int i = 2; i < list.size(); i += StageReads.FIELDS) {
        sum += (Long) list.get(i);
      }
      // The driver adds the bytes of a report once.
      bytes.put(list.get(0), sum);
    }
    assertThat(bytes.values().stream().mapToLong(Long::longValue).sum())
        .isEqualTo(6_001 + 2 * StageReads.MAX_STAGES);
    sender.close();
  }

  /** The driver takes no figures until the first shuffle of an application. */
  @Test
  void shouldSendFiguresAgainThatTheDriverHasNotTaken() throws Exception {
    takes.set(false);
    FigureSender sender = sender(this::take);
    sender.start(present::get, () -> false, () -> false);
    assertThat(awaitReport()).isEqualTo(Map.of("read", 1L));
    sender.reportSoon();
    assertThat(awaitReport()).isEqualTo(Map.of("read", 1L));
    sender.close();
    assertThat(awaitReport()).isEqualTo(Map.of("read", 1L));
  }

  @Test
  void shouldCloseWhenTheDriverDoesNotAnswer() {
    FigureSender sender =
        sender(
            figures -> {
              throw new IllegalStateException("no driver");
            });
    sender.start(present::get, () -> false, () -> false);
    sender.close();
    sender.close();
  }
}
