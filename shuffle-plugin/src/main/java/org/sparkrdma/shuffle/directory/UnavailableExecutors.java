// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs on the driver which executors do not use RDMA: the first one with its reasons, then only
 * their number each time it has doubled. Not safe for several threads; owned by the {@link
 * DirectoryService}.
 */
final class UnavailableExecutors {
  private static final Logger LOG = LoggerFactory.getLogger(UnavailableExecutors.class);

  private final String consequence;
  private final Set<String> unavailable = new HashSet<>();
  private long count;

  /**
   * @param consequence a sentence for the end of the WARN: what follows, and what may be done
   */
  UnavailableExecutors(String consequence) {
    this.consequence = consequence;
  }

  /** An executor does not use RDMA; counts once until {@link #forget}. */
  void report(String executorId, List<String> reasons) {
    if (!unavailable.add(executorId)) {
      return;
    }
    count++;
    if (count == 1) {
      LOG.warn(
          "RDMA is not used in executor {}: {}. {}; further executors are only counted",
          executorId,
          String.join("; ", reasons),
          consequence);
    } else if (Long.bitCount(count) == 1) {
      LOG.warn("RDMA is not used in {} executors so far, the latest is {}", count, executorId);
    }
  }

  /** The executor has ended. */
  void forget(String executorId) {
    unavailable.remove(executorId);
  }
}
