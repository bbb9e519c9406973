// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.thread.ThreadEnd;

/** The threads that start and close RDMA. Safe for any thread. */
final class RuntimeThreads {
  private static final Logger LOG = LoggerFactory.getLogger(RuntimeThreads.class);

  private final ThreadFactory threads;

  RuntimeThreads(ThreadFactory threads) {
    this.threads = threads;
  }

  /** A daemon thread that is not started. */
  Thread create(String name, Runnable task) {
    Thread created = threads.newThread(task);
    created.setName(name);
    created.setDaemon(true);
    return created;
  }

  /** Limits the time of a close, because a device may hang. */
  void closeInTime(RunningParts open, Duration limit) {
    Thread closer = create("rdma-runtime-close", open::close);
    try {
      closer.start();
    } catch (Throwable e) {
      LOG.debug("No thread to close RDMA; it is closed without a time limit", e);
      open.close();
      return;
    }
    if (!ThreadEnd.await(closer, limit)) {
      LOG.warn(
          "RDMA did not close within {} ms; registered memory is left to the system",
          limit.toMillis());
    }
  }
}
