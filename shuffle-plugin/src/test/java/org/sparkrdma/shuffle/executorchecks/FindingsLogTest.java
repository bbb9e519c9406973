// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.executorchecks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.directory.ExecutorFindings;

/** The lines of the driver about the checks of executors. */
class FindingsLogTest {
  private static final String MEMLOCK =
      "problem  locked memory     Too little. To do: raise the limit";

  private final FindingsLog log = new FindingsLog();

  @Test
  void shouldLogEqualFindingsOfAHostOnce() {
    try (CapturedLog captured = CapturedLog.fromInfo("org.sparkrdma.shuffle")) {
      report("1", "a", true);
      report("2", "a", true);
      report("3", "b", true);
      report("4", "a", false, MEMLOCK);
      report("5", "a", false, MEMLOCK);
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
      report("1", "a", true, "note any Known.");
      assertThat(captured.warnings()).isEmpty();
      report("2", "a", false);
      assertThat(captured.warnings()).hasSize(1);
    }
  }

  @Test
  void shouldLogALimitedNumber() {
    try (CapturedLog captured = CapturedLog.fromInfo("org.sparkrdma.shuffle")) {
      for (int i = 0; i < FindingsLog.MAX_LOGGED + 5; i++) {
        report("" + i, "host" + i, true);
      }
      assertThat(captured.warnings()).hasSize(FindingsLog.MAX_LOGGED);
    }
  }

  private void report(String executorId, String host, boolean used, String... lines) {
    log.report(executorId, new ExecutorFindings(host, used, List.of(lines)));
  }
}
