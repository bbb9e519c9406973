// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.directory.ExecutorFindings.FindingLine;
import org.sparkrdma.shuffle.thread.ControlThread;

/** Findings on their way from an executor to the driver. */
@Timeout(30)
class ExecutorFindingsTest {
  private static final FindingLine LINE = new FindingLine("note", "ports", "found", "do");
  private static final ExecutorFindings FINDINGS =
      new ExecutorFindings("7", "host", true, List.of(LINE));

  @Test
  void shouldGiveTheFindingsOfAClientToTheDriver() throws Exception {
    LinkedBlockingQueue<ExecutorFindings> received = new LinkedBlockingQueue<>();
    DirectoryService service = new DirectoryService("");
    service.setFindingsConsumer(received::add);
    AtomicInteger calls = new AtomicInteger();
    DriverCall failsOnce =
        message -> {
          if (calls.incrementAndGet() == 1) {
            throw new IllegalStateException("no driver yet");
          }
          return service.answer(message);
        };
    ControlThread control = new ControlThread();
    try (DirectoryClient client =
        new DirectoryClient(failsOnce, Duration.ofSeconds(20), System::nanoTime, control)) {
      client.send(FINDINGS);
      assertThat(received.poll(20, TimeUnit.SECONDS)).isEqualTo(FINDINGS);
    }
    control.shutdownNow();
    assertThat(calls).hasValue(2);
  }

  @Test
  void shouldTakeNoFindingsWhereTheDriverDoesNotCollectThem() {
    assertThat(
            new DirectoryService("").answer(List.of(DirectoryService.FINDINGS, FINDINGS.encode())))
        .isEqualTo(false);
  }

  @Test
  void shouldShortenLongListsAndTexts() {
    FindingLine line = new FindingLine("note", "ports", "x".repeat(9_000), "y".repeat(9_000));
    ExecutorFindings decoded =
        ExecutorFindings.decode(
            new ExecutorFindings("7", "host", false, Collections.nCopies(500, line)).encode());
    assertThat(decoded.lines())
        .hasSize(ExecutorFindings.MAX_LINES)
        .allMatch(one -> one.message().length() == ExecutorFindings.MAX_TEXT_CHARS)
        .allMatch(one -> one.advice().length() == ExecutorFindings.MAX_TEXT_CHARS);
  }

  @Test
  void shouldKeepFindingsOnTheirLineOfTheLog() {
    FindingLine line = new FindingLine("note", "ports", "one\nERROR two", "\u001b[31mthree");
    ExecutorFindings decoded =
        ExecutorFindings.decode(new ExecutorFindings("7", "host", false, List.of(line)).encode());
    assertThat(decoded.lines())
        .containsExactly(new FindingLine("note", "ports", "one ERROR two", " [31mthree"));
  }

  @Test
  void shouldRefuseAnUnknownLevel() {
    FindingLine line = new FindingLine("ok", "ports", "one", "two");
    List<Object> encoded = new ExecutorFindings("7", "host", false, List.of(line)).encode();
    assertThatThrownBy(() -> ExecutorFindings.decode(encoded))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("level");
  }

  @Test
  void shouldRefuseFindingsThatAreNone() {
    List<Object> tooMany = new ArrayList<>(List.of("7", "host", true));
    tooMany.addAll(Collections.nCopies(ExecutorFindings.MAX_LINES + 1, List.of("", "", "", "")));
    String tooLong = "x".repeat(ExecutorFindings.MAX_TEXT_CHARS + 1);
    List<Object> bad =
        List.of(
            "7",
            List.of(),
            List.of("7", "host"),
            List.of("", "host", true),
            List.of("7", 4, true),
            List.of("7", "host", "true"),
            List.of("7", "host", true, "note"),
            List.of("7", "host", true, List.of("note", "ports", "found")),
            List.of("7", "host", true, List.of("note", "ports", "found", 4)),
            List.of("7", "host", true, List.of("note", "ports", tooLong, "do")),
            List.of("7", "host", true, Arrays.asList("note", "ports", null, "do")),
            tooMany);
    for (Object encoded : bad) {
      assertThatThrownBy(() -> ExecutorFindings.decode(encoded))
          .as(encoded.toString())
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
