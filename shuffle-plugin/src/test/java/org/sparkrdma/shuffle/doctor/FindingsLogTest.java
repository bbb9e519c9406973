// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.directory.ExecutorFindings;
import org.sparkrdma.shuffle.directory.ExecutorFindings.FindingLine;

/** The lines of the driver about the checks of executors. */
class FindingsLogTest {
  private static final FindingLine MEMLOCK =
      new FindingLine("problem", "locked memory", "Too little.", "raise the limit");

  private final FindingsLog log = new FindingsLog();

  @Test
  void shouldLogEqualFindingsOfAHostOnce() {
    try (CapturedLog captured = CapturedLog.fromInfo("org.sparkrdma.shuffle")) {
      log.report(of("1", "a", true));
      log.report(of("2", "a", true));
      log.report(of("3", "b", true));
      log.report(of("4", "a", false, MEMLOCK));
      log.report(of("5", "a", false, MEMLOCK));
      assertThat(captured.warnings())
          .containsExactly(
              "Checks of executor 1 on a: RDMA is used",
              "Checks of executor 3 on b: RDMA is used",
              "Checks of executor 4 on a: RDMA is not used\n"
                  + "  problem  locked memory     Too little. To do: raise the limit");
    }
  }

  @Test
  void shouldWarnOnlyWhereRdmaIsNotUsed() {
    try (CapturedLog captured = new CapturedLog("org.sparkrdma.shuffle")) {
      log.report(of("1", "a", true, new FindingLine("note", "any", "Known.", "nothing")));
      assertThat(captured.warnings()).isEmpty();
      log.report(of("2", "a", false));
      assertThat(captured.warnings()).hasSize(1);
    }
  }

  @Test
  void shouldLogALimitedNumber() {
    try (CapturedLog captured = CapturedLog.fromInfo("org.sparkrdma.shuffle")) {
      for (int i = 0; i < FindingsLog.MAX_LOGGED + 5; i++) {
        log.report(of("" + i, "host" + i, true));
      }
      assertThat(captured.warnings()).hasSize(FindingsLog.MAX_LOGGED);
    }
  }

  private static ExecutorFindings of(String id, String host, boolean used, FindingLine... lines) {
    return new ExecutorFindings(id, host, used, List.of(lines));
  }
}
