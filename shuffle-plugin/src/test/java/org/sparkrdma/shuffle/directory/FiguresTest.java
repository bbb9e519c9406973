// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.metrics.Figure;
import org.sparkrdma.shuffle.metrics.StageReads;
import org.sparkrdma.shuffle.thread.ControlThread;

/** Figures on their way from an executor to the driver. */
@Timeout(30)
class FiguresTest {
  private static final long SECOND_NS = 1_000_000_000L;

  private final AtomicReference<Map<String, Object>> present =
      new AtomicReference<>(Map.of("read", 1L));
  private final List<Map<String, Object>> sent = new ArrayList<>();
  private final AtomicLong nowNs = new AtomicLong();
  private final ControlThread control = new ControlThread();
  private boolean takes = true;
  private final FigureReports reports =
      new FigureReports(present::get, now -> sent.add(now) && takes, nowNs::get);

  @AfterEach
  void close() {
    control.shutdownNow();
  }

  private void tickAt(long timeNs) {
    nowNs.set(timeNs);
    reports.tick();
  }

  @Test
  void shouldReportAtOnceThenEveryTenSecondsWhileFiguresChange() {
    for (long second = 0; second <= 30; second++) {
      present.set(Map.of("read", second));
      tickAt(second * SECOND_NS);
    }
    assertThat(sent).extracting(figures -> figures.get("read")).containsExactly(0L, 10L, 20L, 30L);
  }

  @Test
  void shouldReportOnceWhenFiguresHaveStoppedChanging() {
    tickAt(0);
    present.set(Map.of("read", 2L));
    tickAt(SECOND_NS);
    assertThat(sent).as("they have just changed").hasSize(1);
    tickAt(SECOND_NS + 1);
    assertThat(sent).hasSize(2).last().isEqualTo(Map.of("read", 2L));
    tickAt(60 * SECOND_NS);
    reports.sendUnsent();
    assertThat(sent).hasSize(2);
    present.set(Map.of("read", 3L));
    reports.sendUnsent();
    assertThat(sent).hasSize(3).last().isEqualTo(Map.of("read", 3L));
  }

  @Test
  void shouldReportNothingByItselfWithinASecondOfTheLastReport() {
    tickAt(0);
    present.set(Map.of("read", 2L));
    tickAt(SECOND_NS / 2);
    tickAt(SECOND_NS - 1);
    assertThat(sent).hasSize(1);
  }

  /** The driver takes no figures until the first shuffle of an application. */
  @Test
  void shouldSendFiguresAgainThatTheDriverHasNotTaken() {
    takes = false;
    tickAt(0);
    tickAt(9 * SECOND_NS);
    assertThat(sent).hasSize(1);
    reports.sendUnsent();
    assertThat(sent).as("after reads").hasSize(2);
    takes = true;
    tickAt(19 * SECOND_NS);
    assertThat(sent).hasSize(3);
    tickAt(60 * SECOND_NS);
    assertThat(sent).hasSize(3);
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
    DirectoryClient client = client(service::answer);
    client.report("7", present::get, () -> false);
    assertThat(received.poll(20, TimeUnit.SECONDS)).isEqualTo(Map.of("read", 1L));
    present.set(Map.of("read", 5L, "state", "stopped"));
    client.close();
    assertThat(received).last().isEqualTo(Map.of("read", 5L, "state", "stopped"));
  }

  @Test
  void shouldGiveTheFiguresAfterReadsToTheDriverUnlessAnotherTaskReads() throws Exception {
    LinkedBlockingQueue<Map<String, Object>> received = new LinkedBlockingQueue<>();
    DirectoryService service = new DirectoryService("");
    service.setFiguresConsumer((executorId, figures) -> received.add(figures));
    AtomicBoolean looked = new AtomicBoolean();
    AtomicBoolean reading = new AtomicBoolean(true);
    // The time stands still, so that no report is due by itself.
    try (DirectoryClient client = client(service::answer)) {
      client.reportSoon();
      client.report(
          "7",
          present::get,
          () -> {
            looked.set(true);
            return reading.get();
          });
      assertThat(received.poll(20, TimeUnit.SECONDS)).isEqualTo(Map.of("read", 1L));
      present.set(Map.of("read", 5L));
      client.reportSoon();
      client.reportSoon();
      while (!looked.get()) {
        Thread.onSpinWait();
      }
      assertThat(received).as("a task reads").isEmpty();
      reading.set(false);
      client.reportSoon();
      assertThat(received.poll(20, TimeUnit.SECONDS)).isEqualTo(Map.of("read", 5L));
      assertThat(received).isEmpty();
    }
    assertThat(received).as("the driver has the last figures").isEmpty();
  }

  private DirectoryClient client(DriverCall driver) {
    return new DirectoryClient(driver, Duration.ofSeconds(20), nowNs::get, control);
  }

  @Test
  void shouldCloseWhenTheDriverDoesNotAnswer() {
    DirectoryClient client =
        client(
            message -> {
              throw new IllegalStateException("no driver");
            });
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
