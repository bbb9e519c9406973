// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.thread.ThreadEnd;
import org.sparkrdma.shuffle.thread.ThreadShortageException;

/**
 * The thread of a {@link BlockServer}: works, and sleeps until the next deadline or {@link
 * #wakeUp}. The server starts and closes it. Safe for any thread.
 */
final class ServerThread {
  private static final Logger LOG = LoggerFactory.getLogger(ServerThread.class);

  /** Pause after an Error. */
  private static final long PAUSE_NS = 10_000_000;

  private final BlockServer server;
  private final Thread thread = new Thread(this::run, "rdma-block-server");
  private volatile boolean asleep;
  private volatile boolean mayHaveNewDeadline;

  /** Whether {@link #wakesAtNs} is the end of its sleep. */
  private volatile boolean planned;

  private volatile long wakesAtNs;
  private volatile boolean closing;

  /** Written by the thread only. */
  private final AtomicLong turns = new AtomicLong();

  ServerThread(BlockServer server) {
    this.server = server;
    thread.setDaemon(true);
  }

  /** Starts the thread; once. */
  void start() {
    ThreadShortageException.start(thread);
  }

  /** Ends its sleep, to be called after {@link BlockServer#hasWork} has become true. */
  void wakeUp() {
    if (asleep) {
      LockSupport.unpark(thread);
    }
  }

  /** Number of turns so far. */
  long turns() {
    return turns.get();
  }

  Thread thread() {
    return thread;
  }

  /** A time before the end of its sleep. */
  long beforeWakeNs() {
    return wakesAtNs - 1;
  }

  /** Another thread has set the next deadline: ends a sleep that would last longer. */
  void onDeadline(long deadlineNs) {
    if (!planned || deadlineNs - wakesAtNs < 0) {
      mayHaveNewDeadline = true;
      wakeUp();
    }
  }

  private void run() {
    try {
      while (!closing) {
        turn();
      }
    } finally {
      // Also after an Error: every call is answered and all memory is deregistered.
      server.shutDown();
    }
  }

  /** After an Error it goes on: requests of peers wait for it. */
  private void turn() {
    turns.lazySet(turns.getPlain() + 1);
    try {
      if (server.doWork() == 0) {
        sleep();
      }
    } catch (Throwable e) {
      asleep = false;
      server.log(e);
      LockSupport.parkNanos(this, PAUSE_NS);
    }
  }

  private void sleep() {
    mayHaveNewDeadline = false;
    planned = false;
    long sleepNs = server.untilNextDeadlineNs();
    wakesAtNs = server.nowNs() + sleepNs;
    planned = true;
    // From here to the end of the sleep no lock is taken: waiting for one would use up the permit
    // of a wake-up.
    asleep = true;
    if (!server.hasWork() && !mayHaveNewDeadline && !closing) {
      LockSupport.parkNanos(this, sleepNs);
    }
    asleep = false;
  }

  /** Ends the work. Returns when that is done, or with a warning after the limit. */
  void close(Duration limit) {
    closing = true;
    if (thread.getState() == Thread.State.NEW) {
      server.shutDown();
      return;
    }
    LockSupport.unpark(thread);
    if (!ThreadEnd.await(thread, limit)) {
      LOG.warn(
          "The block server did not stop in time; its memory stays registered until its disk"
              + " or the device returns: limitMs={}",
          limit.toMillis());
    }
  }
}
