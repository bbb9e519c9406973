// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads of one connection manager for calls of librdmacm that may wait for a daemon of the host.
 * The connections' attempts end at their own time-outs meanwhile. Any thread may add calls.
 *
 * <ul>
 *   <li>rdma_resolve_route(3): librdmacm first asks the daemon ibacm, where that runs, and waits
 *       for its answer without a limit (ucma_set_ib_route in its cma.c).
 *   <li>rdma_connect(3) on iWARP: the kernel asks the port mapper iwpmd, where that runs, and waits
 *       up to ten seconds for each answer (iw_cm_map in the kernel's iwcm.c). There are as many
 *       threads as attempts that a transport makes at once by default, so that peers whose mapping
 *       does not come do not delay others.
 * </ul>
 */
final class CmThreads {
  private static final Logger LOG = LoggerFactory.getLogger(CmThreads.class);

  static final int CONNECT_THREADS = 32;

  /** Limit above the number of attempts that a transport makes at once. */
  private static final int MAX_CALLS = 4_096;

  private static final long CLOSE_MS = TimeUnit.SECONDS.toMillis(1);

  private final String name;
  private final ThreadPoolExecutor calls;
  private volatile Runnable atEnd = () -> {};

  private CmThreads(String name, int threads, ThreadFactory factory) {
    this.name = name;
    var number = new AtomicInteger();
    calls =
        new ThreadPoolExecutor(
            threads, threads, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(MAX_CALLS)) {
          @Override
          protected void terminated() {
            atEnd.run();
          }
        };
    calls.setThreadFactory(
        work -> {
          Thread thread = factory.newThread(work);
          thread.setName(threads == 1 ? name : name + "-" + number.incrementAndGet());
          thread.setDaemon(true);
          return thread;
        });
  }

  /** One thread where only routes are resolved. */
  static CmThreads of(IbverbsDevice device) {
    int threads = device.rules().callsMayWait() ? CONNECT_THREADS : 1;
    return start("rdma-cm-" + device.info().name(), threads, Thread::new);
  }

  /** Starts all threads; when the system refuses one, none is left. */
  static CmThreads start(String name, int threads, ThreadFactory factory) {
    var started = new CmThreads(name, threads, factory);
    boolean all = false;
    try {
      started.calls.prestartAllCoreThreads();
      all = true;
      return started;
    } finally {
      if (!all) {
        started.calls.shutdown();
      }
    }
  }

  /**
   * Adds a call. One that throws is logged, and the next runs.
   *
   * @return false when too many wait, or after close
   */
  boolean add(Runnable call) {
    try {
      calls.execute(() -> guarded(call));
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  private void guarded(Runnable call) {
    try {
      call.run();
    } catch (RuntimeException | LinkageError e) {
      // The next call is another connection's.
      LOG.warn("Unexpected failure: thread={}; the attempt ends at its time-out", name, e);
    }
  }

  /**
   * Ends the threads after the calls they have. Waits for them a second at most: a call that hangs
   * holds its thread, not the caller.
   *
   * @param last runs after the last call
   */
  void close(Runnable last) {
    atEnd = last;
    calls.shutdown();
    try {
      if (!calls.awaitTermination(CLOSE_MS, TimeUnit.MILLISECONDS)) {
        LOG.debug("A call has not returned yet: thread={}", name);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
