// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.metrics.Figure;
import org.sparkrdma.shuffle.thread.ControlThread;

/** Figures and findings on their way from an executor to the driver. */
@Timeout(30)
class ExecutorReportTest {
  private final LinkedBlockingQueue<Map<String, Object>> received = new LinkedBlockingQueue<>();
  private final DirectoryService service = new DirectoryService("", this::take);
  private final ControlThread control = new ControlThread();

  private boolean take(String executorId, Map<String, Object> values) {
    assertThat(executorId).isEqualTo("7");
    received.add(values);
    return true;
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
