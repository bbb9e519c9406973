// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.OptionalLong;

/**
 * Commands that an Error has ended, to be run again until they succeed: without them a peer would
 * wait for an answer, or memory stay leased for a peer that is gone. Used with the server's lock.
 */
final class RepeatedCommands {
  private static final long PAUSE_NS = 10_000_000;

  /** Thirty seconds: by then a peer has timed out. */
  private static final int MAX_FAILURES = 3_000;

  private Command first;
  private long nextNs;

  /** A command that may be run again, whatever it has done before the Error. */
  static final class Command implements Runnable {
    private final Runnable work;
    private int failures;

    /** The next one in the list, which allocates nothing. */
    private Command next;

    Command(Runnable work) {
      this.work = work;
    }

    @Override
    public void run() {
      work.run();
    }

    /** The next one that was taken with it; null after the last. */
    Command pollNext() {
      Command following = next;
      next = null;
      return following;
    }
  }

  /** An Error has ended a command. */
  void add(Command failed, long nowNs) {
    failed.failures++;
    if (failed.failures < MAX_FAILURES) {
      if (first == null) {
        nextNs = nowNs + PAUSE_NS;
      }
      failed.next = first;
      first = failed;
    }
  }

  /** Time at which the commands are due; empty without any. */
  OptionalLong nextDeadlineNs() {
    return first == null ? OptionalLong.empty() : OptionalLong.of(nextNs);
  }

  /** Takes all commands when they are due, linked by {@link Command#pollNext}; else null. */
  Command takeDue(long nowNs) {
    Command due = first != null && nowNs - nextNs >= 0 ? first : null;
    if (due != null) {
      first = null;
    }
    return due;
  }
}
