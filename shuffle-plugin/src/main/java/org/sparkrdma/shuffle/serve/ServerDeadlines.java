// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.function.LongSupplier;

/**
 * The deadlines of the server's thread: of leases, idle memory, LOCATEs that wait for disks, and
 * commands to repeat. A thread that has used the state reads the next one before it releases the
 * lock, and passes it on afterwards. Safe for any thread.
 */
final class ServerDeadlines {
  private static final long MAX_SLEEP_NS = Duration.ofHours(1).toNanos();

  private final ServingParts parts;
  private final ServerCommands commands;
  private final ServerSleep sleep;
  private final StateLock state;
  private final LongSupplier nanoClock;

  ServerDeadlines(
      ServingParts parts,
      ServerCommands commands,
      ServerSleep sleep,
      StateLock state,
      LongSupplier nanoClock) {
    this.parts = parts;
    this.commands = commands;
    this.sleep = sleep;
    this.state = state;
    this.nanoClock = nanoClock;
  }

  /** Time until the next one; at most an hour. */
  long untilNextNs() {
    state.lock();
    try {
      return untilNextNs(nanoClock.getAsLong());
    } finally {
      state.unlock();
    }
  }

  /** Time of the next one; with the server's lock. Never throws. */
  long nextNs() {
    try {
      long nowNs = nanoClock.getAsLong();
      return nowNs + untilNextNs(nowNs);
    } catch (Throwable e) {
      // The server's thread will find out.
      return sleep.beforeWakeNs();
    }
  }

  /** The next one may be earlier than before; without the lock. */
  void onChange(long nextNs) {
    sleep.onDeadline(nextNs);
  }

  private long untilNextNs(long nowNs) {
    long untilNs =
        Math.min(
            until(parts.leases().nextDeadlineNs(), nowNs),
            Math.min(
                until(parts.idle().nextDeadlineNs(), nowNs),
                until(commands.nextDeadlineNs(), nowNs)));
    return Math.min(untilNs, until(parts.locator().open().nextDeadlineNs(), nowNs));
  }

  private static long until(OptionalLong deadlineNs, long nowNs) {
    return deadlineNs.isEmpty() ? MAX_SLEEP_NS : deadlineNs.getAsLong() - nowNs;
  }
}
