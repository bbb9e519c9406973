// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
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

  /** Duration of a call from which on it is reported; a subnet manager answers in milliseconds. */
  static final long SLOW_NS = TimeUnit.SECONDS.toNanos(5);

  private final String device;
  private final LongSupplier nanoClock;
  private final ThreadPoolExecutor calls;
  private Thread thread;
  private volatile Runnable atEnd;

  /** Beginning of the call that runs; valid while {@link #running}. */
  private volatile long startNs;

  private volatile boolean running;

  /** Whether a slow call was reported and none was in time since. */
  private volatile boolean reported;

  private RouteResolver(String device, LongSupplier nanoClock) {
    this.device = device;
    this.nanoClock = nanoClock;
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
    return start(device, System::nanoTime);
  }

  /**
   * Starts the thread.
   *
   * @param nanoClock as {@link System#nanoTime}
   */
  static RouteResolver start(String device, LongSupplier nanoClock) {
    RouteResolver started = new RouteResolver(device, nanoClock);
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

  private void guarded(Runnable call) {
    startNs = nanoClock.getAsLong();
    running = true;
    try {
      call.run();
    } catch (RuntimeException e) {
      // The next call is another connection's.
      LOG.warn("Unexpected failure of a route resolution; the attempt ends at its time-out", e);
    } finally {
      running = false;
    }
    if (nanoClock.getAsLong() - startNs < SLOW_NS) {
      reported = false;
    }
  }

  /**
   * Logs a call that has not returned in time: once, and again only after one that was in time.
   * Called by the owner of the connection manager when it polls, because the thread for routes
   * waits inside of the call.
   */
  void reportSlowCall() {
    if (!running || reported) {
      return;
    }
    long elapsedNs = nanoClock.getAsLong() - startNs;
    if (elapsedNs >= SLOW_NS) {
      reported = true;
      LOG.warn(
          "rdma_resolve_route does not return; new connections wait for it and end at their"
              + " time-outs, and their blocks use TCP: device={} seconds={}: look at the daemon"
              + " ibacm of this host, which librdmacm asks first; without it librdmacm asks the"
              + " kernel",
          device,
          TimeUnit.NANOSECONDS.toSeconds(elapsedNs));
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
