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
 * The thread of a {@link BlockServer}: does its {@link ServerWork}, and sleeps until the next
 * deadline or until another thread wakes it up. The server starts and closes it. Safe for any
 * thread.
 */
final class ServerThread {
  private static final Logger LOG = LoggerFactory.getLogger(ServerThread.class);

  /** Pause after an Error. */
  private static final long PAUSE_NS = 10_000_000;

  private final ServerWork work;
  private final ServerDeadlines deadlines;
  private final ServerSleep sleep;
  private final Thread thread = new Thread(this::run, "rdma-block-server");
  private volatile boolean closing;

  /** Written by the thread only. */
  private final AtomicLong turns = new AtomicLong();

  ServerThread(ServerWork work, ServerDeadlines deadlines, ServerSleep sleep) {
    this.work = work;
    this.deadlines = deadlines;
    this.sleep = sleep;
    thread.setDaemon(true);
  }

  /** Starts the thread; once. */
  void start() {
    ThreadShortageException.start(thread);
  }

  /** Ends its sleep; returns the number of turns so far. */
  long requestTurn() {
    sleep.wakeUp();
    return turns.get();
  }

  Thread thread() {
    return thread;
  }

  private void run() {
    try {
      while (!closing) {
        turn();
      }
    } finally {
      // Also after an Error: every call is answered and all memory is deregistered.
      work.shutDown();
    }
  }

  /** After an Error it goes on: requests of peers wait for it. */
  private void turn() {
    turns.lazySet(turns.getPlain() + 1);
    try {
      if (work.doWork() == 0) {
        sleepUntilDeadline();
      }
    } catch (Throwable e) {
      sleep.end();
      work.log(e);
      LockSupport.parkNanos(this, PAUSE_NS);
    }
  }

  private void sleepUntilDeadline() {
    sleep.plan();
    long sleepNs = deadlines.untilNextNs();
    sleep.begin(work.nowNs() + sleepNs);
    if (!work.hasWork() && !sleep.mayHaveNewDeadline() && !closing) {
      LockSupport.parkNanos(this, sleepNs);
    }
    sleep.end();
  }

  /** Ends the work. Returns when that is done, or with a warning after the limit. */
  void close(Duration limit) {
    closing = true;
    if (thread.getState() == Thread.State.NEW) {
      work.shutDown();
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
