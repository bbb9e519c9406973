// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.executorchecks;

import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.directory.ExecutorFindings;

/**
 * Logs the findings of executors at the driver, those of the first one of each host. Safe for any
 * thread.
 */
public final class FindingsLog {
  static final int MAX_LOGGED = 10_000;

  /** The logger of the class that users configure. */
  private static final Logger LOG =
      LoggerFactory.getLogger("org.sparkrdma.shuffle.RdmaShuffleManager");

  private final Set<String> logged = new HashSet<>();

  /** Nothing yet. */
  public FindingsLog() {}

  /** An executor has reported. */
  public void report(String executorId, ExecutorFindings findings) {
    if (isNew(findings)) {
      String text = text(executorId, findings);
      if (findings.used()) {
        LOG.info("{}", text);
      } else {
        LOG.warn("{}", text);
      }
    }
  }

  private synchronized boolean isNew(ExecutorFindings findings) {
    return logged.size() < MAX_LOGGED && logged.add(findings.host() + findings.used());
  }

  private static String text(String executorId, ExecutorFindings findings) {
    StringBuilder text = new StringBuilder("Checks of executor ");
    text.append(executorId).append(" on ").append(findings.host());
    text.append(findings.used() ? ": RDMA is used" : ": RDMA is not used");
    findings.lines().forEach(line -> text.append("\n  ").append(line));
    return text.toString();
  }
}
