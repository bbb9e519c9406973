// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs on the driver which executors do not use RDMA: the first one with its reasons, then only
 * their number each time it has doubled. Not safe for several threads; owned by the {@link
 * DirectoryService}.
 */
final class UnavailableExecutors {
  private static final Logger LOG = LoggerFactory.getLogger(UnavailableExecutors.class);

  private final String advice;
  private long count;

  /**
   * @param advice a sentence for the end of the WARN; may be empty
   */
  UnavailableExecutors(String advice) {
    this.advice = advice;
  }

  void report(String executorId, List<String> reasons) {
    count++;
    if (count == 1) {
      LOG.warn(
          "RDMA is not used in executor {}, its shuffle blocks use TCP: {}{}; further executors"
              + " are only counted",
          executorId,
          String.join("; ", reasons),
          advice.isEmpty() ? "" : ". " + advice);
    } else if (Long.bitCount(count) == 1) {
      LOG.warn("RDMA is not used in {} executors so far, the latest is {}", count, executorId);
    }
  }
}
