// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.util.PriorityQueue;

/**
 * Commands for a time, executed in the order of their times, at equal times in the order in which
 * they were scheduled. Guarded by the lock of the device.
 */
final class Timers {
  private final PriorityQueue<Timer> queue = new PriorityQueue<>();
  private long timerNumber;

  /** Runs a command at a time. */
  Timer schedule(long atNs, Runnable command) {
    var timer = new Timer(atNs, timerNumber++, command);
    queue.add(timer);
    return timer;
  }

  void cancel(Timer timer) {
    queue.remove(timer);
  }

  /** Executes the commands that are due; returns whether there was one. */
  boolean fire(long nowNs) {
    boolean fired = false;
    while (!queue.isEmpty() && queue.peek().atNs() - nowNs <= 0) {
      queue.poll().command().run();
      fired = true;
    }
    return fired;
  }

  boolean isEmpty() {
    return queue.isEmpty();
  }

  /** Time of the first command; only when there is one. */
  long firstNs() {
    return queue.element().atNs();
  }

  /** A command for a time. */
  record Timer(long atNs, long number, Runnable command) implements Comparable<Timer> {
    @Override
    public int compareTo(Timer other) {
      int byTime = Long.signum(atNs - other.atNs);
      return byTime != 0 ? byTime : Long.compare(number, other.number);
    }
  }
}
