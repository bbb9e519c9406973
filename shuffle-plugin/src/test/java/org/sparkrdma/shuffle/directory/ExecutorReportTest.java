// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.metrics.Figure;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.metrics.ShuffleCounters.StageReads;
import org.sparkrdma.shuffle.thread.ControlThread;

/** Figures and findings on their way from an executor to the driver. */
@Timeout(30)
class ExecutorReportTest {
  private final AtomicReference<Map<String, Object>> present =
      new AtomicReference<>(Map.of("read", 1L));
  private final LinkedBlockingQueue<Map<String, Object>> received = new LinkedBlockingQueue<>();
  private final AtomicBoolean takes = new AtomicBoolean(true);
  private final DirectoryService service = new DirectoryService("", this::take);
  private final ControlThread control = new ControlThread();

  private boolean take(String executorId, Map<String, Object> values) {
    assertThat(executorId).isEqualTo("7");
    received.add(values);
    return takes.get();
  }

  private Map<String, Object> awaitReport() throws InterruptedException {
    return received.poll(20, TimeUnit.SECONDS);
  }

  private DirectoryClient client(DriverCall driver) {
    return new DirectoryClient(driver, Duration.ofSeconds(20), System::nanoTime, control);
  }

  @AfterEach
  void close() {
    control.shutdownNow();
  }

  @Test
  void shouldGiveTheFiguresAfterReadsToTheDriverUnlessAnotherTaskReads() throws Exception {
    AtomicBoolean looked = new AtomicBoolean();
    AtomicBoolean reading = new AtomicBoolean(true);
    try (DirectoryClient client = client(service::answer)) {
      client.reportSoon();
      client.report(
          "7",
          present::get,
          () -> false,
          () -> {
            looked.set(true);
            return reading.get();
          });
      assertThat(awaitReport()).isEqualTo(Map.of("read", 1L));
      present.set(Map.of("read", 5L));
      client.reportSoon();
      client.reportSoon();
      while (!looked.get()) {
        Thread.onSpinWait();
      }
      reading.set(false);
      client.reportSoon();
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
    DirectoryClient client =
        new DirectoryClient(service::answer, Duration.ofSeconds(20), nowNs::get, byHand);
    client.report(
        "7",
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
        client.reportSoon();
      }
      if (!due.isEmpty() && nowNs.get() >= dueNs.get()) {
        due.remove().run();
      }
    }
    assertThat(received).hasSizeBetween(60, 60 + DirectoryClient.SOONER_REPORTS + 1);
    stages.add(599, 1, 0, 0);
    client.reportNow();
    client.close();
    long bytes = 0;
    for (Map<String, Object> report : received) {
      List<?> list = (List<?>) report.get(Figure.STAGES);
      for (int i = 2; i < list.size(); i += StageReads.FIELDS) {
        bytes += (Long) list.get(i);
      }
    }
    assertThat(bytes).isEqualTo(6_001);
  }

  /** The driver takes no figures until the first shuffle of an application. */
  @Test
  void shouldSendFiguresAgainThatTheDriverHasNotTaken() throws Exception {
    takes.set(false);
    DirectoryClient client = client(service::answer);
    client.report("7", present::get, () -> false, () -> false);
    assertThat(awaitReport()).isEqualTo(Map.of("read", 1L));
    client.reportSoon();
    assertThat(awaitReport()).isEqualTo(Map.of("read", 1L));
    client.close();
    assertThat(awaitReport()).isEqualTo(Map.of("read", 1L));
  }

  @Test
  void shouldCloseWhenTheDriverDoesNotAnswer() {
    DirectoryClient client =
        client(
            message -> {
              throw new IllegalStateException("no driver");
            });
    client.report("7", present::get, () -> false, () -> false);
    client.close();
    client.close();
  }

  @Test
  void shouldGiveFindingsToTheDriverOnceItAnswers() throws Exception {
    ExecutorFindings findings = new ExecutorFindings("host", true, List.of("note  ports  found"));
    AtomicInteger calls = new AtomicInteger();
    try (DirectoryClient client =
        client(
            message -> {
              if (calls.incrementAndGet() == 1) {
                throw new IllegalStateException("no driver yet");
              }
              return service.answer(message);
            })) {
      client.send("7", findings);
      assertThat(ExecutorFindings.of(awaitReport())).hasValue(findings);
    }
    assertThat(calls).hasValue(2);
    assertThat(ExecutorFindings.of(Map.of("read", 1L))).isEmpty();
  }

  @Test
  void shouldShortenLongListsAndTexts() {
    String text = "x".repeat(10_000);
    ExecutorReport report =
        new ExecutorReport(
            "7", Map.of("reasons", text, Figure.FINDINGS, Collections.nCopies(500, text)));
    Map<String, Object> values = ExecutorReport.decode(report.encode()).values();
    String most = text.substring(0, ExecutorReport.MAX_TEXT_CHARS);
    assertThat(values)
        .isEqualTo(
            Map.of(
                "reasons",
                most,
                Figure.FINDINGS,
                Collections.nCopies(ExecutorReport.MAX_FINDINGS, most)));
  }

  @Test
  void shouldKeepTextsOnTheirLineOfTheLog() {
    List<Object> encoded =
        List.of(
            "7", "state", "one\nERROR two", Figure.FINDINGS, List.of("three", "\u001b[31mfour"));
    assertThat(ExecutorReport.decode(encoded).values())
        .isEqualTo(
            Map.of("state", "one ERROR two", Figure.FINDINGS, List.of("three", " [31mfour")));
    assertThat(ExecutorReport.decode(List.of("7\n")).executorId()).isEqualTo("7 ");
  }

  /** Those of a newer version, which must not cost the others. */
  @Test
  void shouldLeaveOutValuesOfUnknownKinds() {
    List<Object> unknown =
        Arrays.asList(
            1, null, List.of(), List.of(1L, 2L), "x".repeat(ExecutorReport.MAX_TEXT_CHARS + 1));
    for (Object value : unknown) {
      ExecutorReport report = ExecutorReport.decode(Arrays.asList("7", "new", value, "read", 1L));
      assertThat(report.values()).as("%s", value).isEqualTo(Map.of("read", 1L));
    }
  }

  /** Else a list under another name would take memory of the driver and of the event log. */
  @Test
  void shouldTakeListsOnlyUnderTheirNames() {
    List<Long> numbers = List.of(4L, 1L, 0L, 0L);
    ExecutorReport report =
        ExecutorReport.decode(List.of("7", "read", numbers, Figure.STAGES, numbers, "tcp", 2L));
    assertThat(report.values()).isEqualTo(Map.of(Figure.STAGES, numbers, "tcp", 2L));
    List<Object> bad =
        List.of(
            List.of(1L, "2"),
            LongStream.range(0, ExecutorReport.MAX_NUMBERS + 1).boxed().toList(),
            Collections.nCopies(ExecutorReport.MAX_FINDINGS + 1, "found"),
            Arrays.asList("found", null));
    for (String name : List.of(Figure.STAGES, Figure.FINDINGS)) {
      for (Object value : bad) {
        assertThat(ExecutorReport.decode(List.of("7", name, value)).values())
            .as("%s %s", name, value)
            .isEmpty();
      }
    }
  }

  @Test
  void shouldRefuseReportsThatAreNone() {
    List<List<?>> bad =
        List.of(
            List.of(),
            List.of("7", "read"),
            List.of("7", "", 1L),
            List.of(7, "read", 1L),
            IntStream.range(0, 1_001).mapToObj(Integer::toString).toList());
    for (List<?> encoded : bad) {
      assertThatThrownBy(() -> ExecutorReport.decode(encoded))
          .as(encoded.toString())
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
