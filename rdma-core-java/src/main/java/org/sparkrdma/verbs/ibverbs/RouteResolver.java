// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.ArrayDeque;
import java.util.Queue;
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

  /** More than the attempts that a transport makes at once. */
  private static final int MAX_CALLS = 4_096;

  private static final long CLOSE_MS = TimeUnit.SECONDS.toMillis(1);

  private final Queue<Runnable> calls = new ArrayDeque<>();
  private final Thread thread;
  private Runnable atEnd;

  private RouteResolver(String device) {
    thread = new Thread(this::run, "rdma-routes-" + device);
    thread.setDaemon(true);
  }

  static RouteResolver start(String device) {
    RouteResolver started = new RouteResolver(device);
    started.thread.start();
    return started;
  }

  /**
   * Adds a call. One that throws is logged, and the next runs.
   *
   * @return false when too many wait, or after close
   */
  synchronized boolean add(Runnable call) {
    if (atEnd != null || calls.size() == MAX_CALLS) {
      return false;
    }
    calls.add(call);
    notifyAll();
    return true;
  }

  private void run() {
    for (Runnable call = take(); call != null; call = take()) {
      guarded(call);
    }
    atEnd.run();
  }

  private static void guarded(Runnable call) {
    try {
      call.run();
    } catch (Throwable e) {
      // An Error too: the next call is another connection's.
      LOG.warn("Unexpected failure of a route resolution; the attempt ends at its time-out", e);
    }
  }

  /** The next call; null after close, when none is left. */
  private synchronized Runnable take() {
    while (calls.isEmpty() && atEnd == null) {
      try {
        wait();
      } catch (InterruptedException e) {
        // Only close ends this thread.
      }
    }
    return calls.poll();
  }

  /**
   * Ends the thread after the calls it has. Waits for it a second at most: a call that hangs holds
   * the thread, not the caller.
   *
   * @param last runs on that thread, after the last call
   */
  void close(Runnable last) {
    synchronized (this) {
      atEnd = last;
      notifyAll();
    }
    boolean interrupted = false;
    try {
      thread.join(CLOSE_MS);
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
