// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the calls of rdma_resolve_route(3) of one connection manager, one after the other, on a
 * thread of its own: librdmacm first asks the daemon ibacm, where that runs, and waits for its
 * answer without a limit (ucma_set_ib_route in its cma.c). Any thread may add calls; the
 * connections' attempts end at their own time-outs meanwhile.
 */
final class RouteResolver {
  private static final Logger LOG = LoggerFactory.getLogger(RouteResolver.class);

  /** Limit above the number of attempts that a transport makes at once. */
  private static final int MAX_CALLS = 4_096;

  private static final long CLOSE_MS = TimeUnit.SECONDS.toMillis(1);

  private final ThreadPoolExecutor calls;
  private Thread thread;
  private volatile Runnable atEnd;

  private RouteResolver(String device) {
    calls =
        new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MAX_CALLS),
            work -> create("rdma-routes-" + device, work));
  }

  /** The only thread: no call ends it, because {@link #guarded} catches what it throws. */
  private Thread create(String name, Runnable work) {
    thread =
        new Thread(
            () -> {
              work.run();
              atEnd.run();
            },
            name);
    thread.setDaemon(true);
    return thread;
  }

  static RouteResolver start(String device) {
    RouteResolver started = new RouteResolver(device);
    // So that close finds a thread that can run the last call.
    started.calls.prestartCoreThread();
    return started;
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

  private static void guarded(Runnable call) {
    try {
      call.run();
    } catch (Throwable e) {
      // An Error too: the next call is another connection's.
      LOG.warn("Unexpected failure of a route resolution; the attempt ends at its time-out", e);
    }
  }

  /**
   * Ends the thread after the calls it has. Waits for it a second at most: a call that hangs holds
   * the thread, not the caller.
   *
   * @param last runs on that thread, after the last call
   */
  void close(Runnable last) {
    atEnd = last;
    calls.shutdown();
    try {
      thread.join(CLOSE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
