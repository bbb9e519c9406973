// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.concurrent.locks.LockSupport;

/**
 * The sleep of the server's thread until its next deadline. Other threads end it, for a command or
 * for an earlier deadline. Takes no lock. The server's thread begins and ends it; safe for any
 * thread.
 */
final class ServerSleep {
  /** The server's thread while it sleeps, or is about to; else null. */
  private volatile Thread sleeper;

  private volatile boolean mayHaveNewDeadline;

  /** Whether {@link #wakesAtNs} is the end of the sleep. */
  private volatile boolean planned;

  private volatile long wakesAtNs;

  /** Ends the sleep, to be called after something to do was submitted. */
  void wakeUp() {
    Thread thread = sleeper;
    if (thread != null) {
      LockSupport.unpark(thread);
    }
  }

  /** Another thread has set the next deadline: ends a sleep that would last longer. */
  void onDeadline(long deadlineNs) {
    if (!planned || deadlineNs - wakesAtNs < 0) {
      mayHaveNewDeadline = true;
      wakeUp();
    }
  }

  /** A time before the end of the sleep. */
  long beforeWakeNs() {
    return wakesAtNs - 1;
  }

  /** The server's thread is about to read its deadlines. */
  void plan() {
    mayHaveNewDeadline = false;
    planned = false;
  }

  /**
   * From now on other threads unpark this one. Until {@link #end} it must take no lock: waiting for
   * one would use up the permit of a wake-up.
   *
   * @param endNs the next deadline
   */
  void begin(long endNs) {
    wakesAtNs = endNs;
    planned = true;
    sleeper = Thread.currentThread();
  }

  /** Whether a deadline may be earlier than the planned one. */
  boolean mayHaveNewDeadline() {
    return mayHaveNewDeadline;
  }

  /** The server's thread is awake. */
  void end() {
    sleeper = null;
  }
}
