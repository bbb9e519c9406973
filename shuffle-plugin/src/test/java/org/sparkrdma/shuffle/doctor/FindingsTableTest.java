// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.directory.ExecutorFindings;
import org.sparkrdma.shuffle.directory.ExecutorFindings.FindingLine;

/** The table of findings, and when it is logged. */
class FindingsTableTest {
  private static final FindingLine NOTE =
      new FindingLine("note", "encryption", "Not encrypted.", "set the key");
  private static final FindingLine MEMLOCK =
      new FindingLine("problem", "locked memory", "Too little.", "raise the limit");

  @Test
  void shouldGroupExecutorsWithEqualFindingsAndPutThoseWithoutRdmaFirst() {
    FindingsTable table =
        new FindingsTable(
            List.of(
                of("10", "a", true, NOTE),
                of("1", "b", true, NOTE),
                of("2", "a", true, NOTE),
                of("3", "c", false, MEMLOCK, NOTE),
                of("4", "d", true)));
    assertThat(table.text().lines())
        .containsExactly(
            "RDMA is used in 4, not used in 1. First to do: raise the limit (locked memory)",
            "RDMA is not used: executor 3 on c",
            "  problem  locked memory     Too little.",
            "                             To do: raise the limit",
            "  note     encryption        Not encrypted.",
            "                             To do: set the key",
            "RDMA is used: 3 executors, 1, 2, 10 on b, a",
            "  note     encryption        Not encrypted.",
            "                             To do: set the key",
            "RDMA is used: executor 4 on d",
            "  ok");
  }

  @Test
  void shouldKeepTheTableShortInALargeApplication() {
    List<ExecutorFindings> all = new ArrayList<>();
    IntStream.range(0, 5_000)
        .mapToObj(i -> of("" + i, "host" + i, false, MEMLOCK))
        .forEach(all::add);
    IntStream.range(5_000, 6_000)
        .mapToObj(i -> of("" + i, "h", true, new FindingLine("note", "any", "n" + i, "do")))
        .forEach(all::add);
    String text = new FindingsTable(all).text();
    assertThat(text)
        .startsWith("RDMA is used in 1000, not used in 5000.")
        .contains("RDMA is not used: 5000 executors, 0, 1, 2, ")
        .contains(" 19 and 4980 more on host0, ")
        .contains("... and 981 more groups of executors with other findings");
    assertThat(text.length()).isLessThan(10_000);
  }

  @Test
  void shouldHaveNothingToDoWhereThereAreOnlyNotes() {
    assertThat(new FindingsTable(List.of(of("0", "a", true, NOTE))).text())
        .startsWith("RDMA is used in 1, not used in 0. First to do: nothing\n");
  }

  @Test
  void shouldLogOnceExecutorsHaveReportedAndLaterOnesOnceAMinute() {
    PendingFindings pending = new PendingFindings();
    assertThat(pending.isDue(seconds(100))).isFalse();
    pending.add(of("0", "a", true), seconds(100));
    pending.add(of("1", "a", true), seconds(103));
    assertThat(pending.isDue(seconds(107))).isFalse();
    assertThat(pending.isDue(seconds(108))).isTrue();
    assertThat(pending.takeAll()).hasSize(2);
    assertThat(pending.isEmpty()).isTrue();
    pending.add(of("2", "a", true), seconds(110));
    assertThat(pending.isDue(seconds(169))).isFalse();
    assertThat(pending.isDue(seconds(170))).isTrue();
  }

  @Test
  void shouldNotWaitForEverWhileExecutorsKeepReporting() {
    PendingFindings pending = new PendingFindings();
    for (int second = 0; second < 15; second++) {
      pending.add(of("" + second, "a", true), seconds(second));
      assertThat(pending.isDue(seconds(second))).isFalse();
    }
    assertThat(pending.isDue(seconds(15))).isTrue();
  }

  @Test
  void shouldKeepOneReportOfAnExecutorAndALimitedNumberOfExecutors() {
    PendingFindings pending = new PendingFindings();
    pending.add(of("0", "a", false), 0);
    pending.add(of("0", "a", true), 0);
    assertThat(pending.takeAll()).singleElement().matches(ExecutorFindings::used);
    for (int i = 0; i < PendingFindings.MAX_EXECUTORS + 5; i++) {
      pending.add(of("" + i, "a", true), 0);
    }
    assertThat(pending.takeAll()).hasSize(PendingFindings.MAX_EXECUTORS);
  }

  private static long seconds(long seconds) {
    return TimeUnit.SECONDS.toNanos(seconds);
  }

  private static ExecutorFindings of(String id, String host, boolean used, FindingLine... lines) {
    return new ExecutorFindings(id, host, used, List.of(lines));
  }
}
