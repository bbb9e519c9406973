// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the calls of rdma_connect(3) of one connection manager on iWARP: the kernel asks the port
 * mapper iwpmd, where that runs, and waits up to ten seconds for each answer (iw_cm_map in the
 * kernel's iwcm.c). There are as many threads as attempts that a transport makes at once by
 * default, so that peers whose mapping does not come do not delay others. Any thread may add calls.
 */
final class ConnectThreads {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectThreads.class);

  static final int THREADS = 32;

  /** Limit above the number of attempts that a transport makes at once. */
  private static final int MAX_CALLS = 4_096;

  private static final long CLOSE_MS = TimeUnit.SECONDS.toMillis(1);

  private final ThreadPoolExecutor calls;

  private ConnectThreads(String device, int threads) {
    var number = new AtomicInteger();
    calls =
        new ThreadPoolExecutor(
            threads,
            threads,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MAX_CALLS),
            work -> {
              var thread =
                  new Thread(work, "rdma-connects-" + device + "-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
  }

  /** Starts all threads, since a machine without memory for a thread throws an Error then. */
  static ConnectThreads start(String device) {
    var started = new ConnectThreads(device, THREADS);
    boolean complete = false;
    try {
      started.calls.prestartAllCoreThreads();
      complete = true;
      return started;
    } finally {
      if (!complete) {
        started.close();
      }
    }
  }

  /**
   * Adds a call, which must not throw.
   *
   * @return false when too many wait, or after close
   */
  boolean add(Runnable call) {
    try {
      calls.execute(call);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  /** Ends the threads after the calls they have; waits a second at most. */
  void close() {
    calls.shutdown();
    try {
      if (!calls.awaitTermination(CLOSE_MS, TimeUnit.MILLISECONDS)) {
        LOG.debug("A call of rdma_connect has not returned yet");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
