// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.metrics.Figure;
import org.sparkrdma.shuffle.metrics.StageReads;

/** Figures on their way from an executor to the driver. */
@Timeout(30)
class FiguresTest {
  private static final long SECOND_NS = 1_000_000_000L;

  private final AtomicReference<Map<String, Object>> present =
      new AtomicReference<>(Map.of("read", 1L));
  private final FigureReports reports = new FigureReports(present::get);

  @Test
  void shouldReportAtOnceThenEveryTenSecondsWhileFiguresChange() {
    List<Long> reported = new ArrayList<>();
    for (long second = 0; second <= 30; second++) {
      present.set(Map.of("read", second));
      Optional<Map<String, Object>> due = reports.due(second * SECOND_NS);
      if (due.isPresent()) {
        reported.add(second);
        reports.onAnswer(due.get(), true);
      }
    }
    assertThat(reported).containsExactly(0L, 10L, 20L, 30L);
  }

  @Test
  void shouldReportOnceWhenFiguresHaveStoppedChanging() {
    reports.onAnswer(reports.due(0).orElseThrow(), true);
    present.set(Map.of("read", 2L));
    assertThat(reports.due(SECOND_NS)).as("they have just changed").isEmpty();
    assertThat(reports.due(SECOND_NS + 1)).contains(Map.of("read", 2L));
    reports.onAnswer(Map.of("read", 2L), true);
    assertThat(reports.due(60 * SECOND_NS)).isEmpty();
    assertThat(reports.unsent(61 * SECOND_NS)).isEmpty();
    present.set(Map.of("read", 3L));
    assertThat(reports.unsent(62 * SECOND_NS)).contains(Map.of("read", 3L));
  }

  @Test
  void shouldReportNothingByItselfWithinASecondOfTheLastReport() {
    reports.onAnswer(reports.due(0).orElseThrow(), true);
    present.set(Map.of("read", 2L));
    assertThat(reports.due(SECOND_NS / 2)).isEmpty();
    assertThat(reports.due(SECOND_NS - 1)).as("quiet, but too soon").isEmpty();
  }

  @Test
  void shouldReportAtOnceAfterReadsButAtMostEvery100Milliseconds() {
    assertThat(reports.pauseNs(0)).isNotPositive();
    reports.onAnswer(reports.unsent(0).orElseThrow(), true);
    assertThat(reports.pauseNs(SECOND_NS / 100)).isEqualTo(SECOND_NS * 9 / 100);
    assertThat(reports.pauseNs(SECOND_NS / 10)).isNotPositive();
    assertThat(reports.unsent(SECOND_NS / 10)).as("nothing new").isEmpty();
    present.set(Map.of("read", 2L));
    assertThat(reports.unsent(SECOND_NS / 10)).contains(Map.of("read", 2L));
  }

  /** The driver takes no figures until the first shuffle of an application. */
  @Test
  void shouldReportAfterReadsAlsoWhenTheDriverHasNotTakenTheLast() {
    reports.onAnswer(reports.due(0).orElseThrow(), false);
    assertThat(reports.due(SECOND_NS)).isEmpty();
    assertThat(reports.unsent(SECOND_NS)).contains(Map.of("read", 1L));
  }

  @Test
  void shouldSendFiguresAgainThatTheDriverHasNotTaken() {
    reports.onAnswer(reports.due(0).orElseThrow(), false);
    assertThat(reports.due(9 * SECOND_NS)).isEmpty();
    reports.onAnswer(reports.due(10 * SECOND_NS).orElseThrow(), true);
    assertThat(reports.due(60 * SECOND_NS)).isEmpty();
  }

  @Test
  void shouldTakeNoFiguresBeforeTheDriverWantsThem() throws Exception {
    DirectoryService service = new DirectoryService("");
    List<Object> message =
        List.of(DirectoryService.FIGURES, new FiguresMessage("7", Map.of("read", 1L)).encode());
    assertThat(service.answer(message)).isEqualTo(false);
    service.setFiguresConsumer((executorId, figures) -> {});
    assertThat(service.answer(message)).isEqualTo(true);
  }

  @Test
  void shouldGiveTheFiguresOfAClientToTheDriverAndTheLastOnesAtItsClose() throws Exception {
    LinkedBlockingQueue<Map<String, Object>> received = new LinkedBlockingQueue<>();
    DirectoryService service = new DirectoryService("");
    service.setFiguresConsumer(
        (executorId, figures) -> {
          assertThat(executorId).isEqualTo("7");
          received.add(figures);
        });
    DirectoryClient client =
        new DirectoryClient(service::answer, Duration.ofSeconds(20), System::nanoTime);
    client.report("7", present::get, () -> false);
    assertThat(received.poll(20, TimeUnit.SECONDS)).isEqualTo(Map.of("read", 1L));
    present.set(Map.of("read", 5L, "state", "stopped"));
    client.close();
    assertThat(received).last().isEqualTo(Map.of("read", 5L, "state", "stopped"));
  }

  @Test
  void shouldGiveTheFiguresAfterReadsToTheDriverSoon() throws Exception {
    LinkedBlockingQueue<Map<String, Object>> received = new LinkedBlockingQueue<>();
    DirectoryService service = new DirectoryService("");
    service.setFiguresConsumer((executorId, figures) -> received.add(figures));
    // The time stands still, so that no report is due by itself.
    AtomicLong nowNs = new AtomicLong();
    try (DirectoryClient client =
        new DirectoryClient(service::answer, Duration.ofSeconds(20), nowNs::get)) {
      client.reportSoon();
      client.report("7", present::get, () -> false);
      assertThat(received.poll(20, TimeUnit.SECONDS)).isEqualTo(Map.of("read", 1L));
      present.set(Map.of("read", 5L));
      client.reportSoon();
      client.reportSoon();
      // The thread of the reports has answered this after it has looked at the time.
      client.exclude("7").get();
      assertThat(received).as("too soon").isEmpty();
      nowNs.addAndGet(SECOND_NS / 10);
      assertThat(received.poll(20, TimeUnit.SECONDS)).isEqualTo(Map.of("read", 5L));
      assertThat(received).isEmpty();
    }
    assertThat(received).as("the driver has the last figures").isEmpty();
  }

  /** An executor of one core has no task that reads between any two. */
  @Test
  void shouldSendNoFiguresBetweenTasksThatFollowEachOther() {
    List<Map<String, Object>> received = new ArrayList<>();
    DirectoryService service = new DirectoryService("");
    service.setFiguresConsumer((executorId, figures) -> received.add(figures));
    AtomicLong nowNs = new AtomicLong();
    AtomicBoolean reading = new AtomicBoolean();
    try (ManualScheduler scheduler = new ManualScheduler();
        DirectoryClient client =
            new DirectoryClient(service::answer, Duration.ofSeconds(20), nowNs::get, scheduler)) {
      client.report("7", present::get, reading::get);
      scheduler.runOnly(0);
      received.clear();
      for (long task = 2; task < 50; task++) {
        nowNs.addAndGet(SECOND_NS);
        present.set(Map.of("read", task));
        client.reportSoon();
        reading.set(true);
        scheduler.runOnly(FigureReports.QUIET_MS);
        assertThat(received).as("a task reads").isEmpty();
        reading.set(false);
      }
      client.reportSoon();
      scheduler.runOnly(FigureReports.QUIET_MS);
      assertThat(received).containsExactly(Map.of("read", 49L));
    }
  }

  /** Has no thread: a test runs what is scheduled. */
  private static final class ManualScheduler extends ScheduledThreadPoolExecutor
      implements AutoCloseable {
    private final Map<Long, Runnable> byDelay = new HashMap<>();

    ManualScheduler() {
      super(0);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
      byDelay.put(unit.toMillis(delay), task);
      return null;
    }

    void runOnly(long delayMs) {
      byDelay.remove(delayMs).run();
    }

    @Override
    public void close() {
      shutdownNow();
    }
  }

  @Test
  void shouldLoseAtMostOneReportWhenTheHandOverOfTheNextOneFails() {
    RefusingScheduler scheduler = new RefusingScheduler();
    DirectoryService service = new DirectoryService("");
    AtomicLong nowNs = new AtomicLong();
    AtomicLong sent = new AtomicLong();
    service.setFiguresConsumer(
        (executorId, figures) -> {
          if (sent.incrementAndGet() == 1) {
            // On the thread of the reports, whose next task is the next report.
            scheduler.refuse(1);
          }
        });
    try (DirectoryClient client =
        new DirectoryClient(service::answer, Duration.ofSeconds(20), nowNs::get, scheduler)) {
      client.report("7", () -> Map.of("read", nowNs.get()), () -> false);
      while (sent.get() == 0 || scheduler.left() > 0) {
        Thread.onSpinWait();
      }
      nowNs.addAndGet(11 * SECOND_NS);
      while (sent.get() == 1) {
        // The runtime's thread does so each second.
        client.retry();
      }
      nowNs.addAndGet(11 * SECOND_NS);
      while (sent.get() == 2) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void shouldGoOnReportingWhenTheFirstReportCouldNotBeHandedOver() {
    RefusingScheduler scheduler = new RefusingScheduler();
    DirectoryService service = new DirectoryService("");
    AtomicLong sent = new AtomicLong();
    service.setFiguresConsumer((executorId, figures) -> sent.incrementAndGet());
    try (DirectoryClient client =
        new DirectoryClient(service::answer, Duration.ofSeconds(20), System::nanoTime, scheduler)) {
      scheduler.refuse(1);
      assertThatThrownBy(() -> client.report("7", present::get, () -> false))
          .isInstanceOf(OutOfMemoryError.class);
      client.retry();
      while (sent.get() == 0) {
        Thread.onSpinWait();
      }
    }
  }

  /** The executor of such a system reads on: the end of each task hands the report over again. */
  @Test
  void shouldKeepNoReportsInTheQueueWhileNoThreadCanBeStarted() throws Exception {
    LinkedBlockingQueue<Map<String, Object>> received = new LinkedBlockingQueue<>();
    DirectoryService service = new DirectoryService("");
    service.setFiguresConsumer((executorId, figures) -> received.add(figures));
    AtomicBoolean refuses = new AtomicBoolean(true);
    DirectoryThread thread =
        new DirectoryThread(
            task -> {
              if (refuses.get()) {
                throw new OutOfMemoryError("unable to create native thread");
              }
              return DirectoryClient.newThread(task);
            });
    try (DirectoryClient client =
        new DirectoryClient(service::answer, Duration.ofSeconds(20), System::nanoTime, thread)) {
      assertThatThrownBy(() -> client.report("7", present::get, () -> false))
          .isInstanceOf(OutOfMemoryError.class);
      for (int task = 0; task < 100; task++) {
        assertThatThrownBy(client::reportSoon).isInstanceOf(OutOfMemoryError.class);
      }
      assertThat(thread.getQueue()).isEmpty();

      refuses.set(false);
      client.reportSoon();
      assertThat(received.poll(20, TimeUnit.SECONDS)).isEqualTo(Map.of("read", 1L));
    }
  }

  @Test
  void shouldCloseWhenTheDriverDoesNotAnswer() {
    DirectoryClient client =
        new DirectoryClient(
            message -> {
              throw new IllegalStateException("no driver");
            },
            Duration.ofSeconds(20),
            System::nanoTime);
    client.report("7", present::get, () -> false);
    client.close();
    client.close();
  }

  @Test
  void shouldShortenLongTexts() {
    String text = "x".repeat(10_000);
    FiguresMessage message =
        FiguresMessage.decode(new FiguresMessage("7", Map.of("reasons", text)).encode());
    assertThat(message.figures())
        .containsEntry("reasons", text.substring(0, FiguresMessage.MAX_TEXT_CHARS));
  }

  @Test
  void shouldSendListsOfNumbers() {
    List<Long> numbers =
        LongStream.range(0, StageReads.MAX_STAGES * StageReads.FIELDS).boxed().toList();
    FiguresMessage message = new FiguresMessage("7", Map.of("stages", numbers));
    assertThat(message.encode().get(2)).isExactlyInstanceOf(ArrayList.class);
    assertThat(FiguresMessage.decode(message.encode())).isEqualTo(message);
  }

  /** Those of a newer version, which must not cost the others. */
  @Test
  void shouldLeaveOutFiguresOfUnknownKinds() {
    List<Object> unknown =
        Arrays.asList(
            1, null, List.of(), List.of(1L, 2L), "x".repeat(FiguresMessage.MAX_TEXT_CHARS + 1));
    for (Object value : unknown) {
      FiguresMessage message = FiguresMessage.decode(Arrays.asList("7", "new", value, "read", 1L));
      assertThat(message.figures()).as("%s", value).isEqualTo(Map.of("read", 1L));
    }
  }

  /** Else a list under another name would take memory of the driver and of the event log. */
  @Test
  void shouldTakeListsOfNumbersOnlyForStages() {
    List<Long> numbers = List.of(4L, 1L, 0L, 0L);
    FiguresMessage message =
        FiguresMessage.decode(List.of("7", "read", numbers, Figure.STAGES, numbers, "tcp", 2L));
    assertThat(message.figures()).isEqualTo(Map.of(Figure.STAGES, numbers, "tcp", 2L));
    List<Object> bad =
        List.of(
            1L,
            "1",
            List.of(),
            List.of(1L, "2"),
            LongStream.range(0, FiguresMessage.MAX_NUMBERS + 1).boxed().toList());
    for (Object value : bad) {
      assertThat(FiguresMessage.decode(List.of("7", Figure.STAGES, value)).figures())
          .as("%s", value)
          .isEmpty();
    }
  }

  @Test
  void shouldRefuseFiguresThatAreNone() {
    List<List<?>> bad =
        List.of(
            List.of(),
            List.of("7", "read"),
            List.of("7", "", 1L),
            List.of(7, "read", 1L),
            IntStream.range(0, 1_001).mapToObj(Integer::toString).toList());
    for (List<?> encoded : bad) {
      assertThatThrownBy(() -> FiguresMessage.decode(encoded))
          .as(encoded.toString())
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
