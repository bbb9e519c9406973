// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import org.sparkrdma.shuffle.wire.Locate;

/**
 * Answers small LOCATEs and RELEASEs on the thread that has received them, which saves two wake-ups
 * of threads: when nothing else waits for the server's thread and no other thread uses the state.
 * Never waits for the server's lock. Safe for any thread.
 */
final class ImmediateAnswers {
  /** Maximum number of blocks of a small LOCATE. */
  static final int MAX_BLOCKS = 8;

  /** Maximum number of leases that a small LOCATE or RELEASE releases. */
  static final int MAX_LEASES = 64;

  /** Maximum number of windows and slots that the leases of a small RELEASE hold. */
  static final int MAX_HELD = 64;

  private final ServerWork work;
  private final LocateSteps steps;
  private final Leases leases;
  private final ServerCommands commands;
  private final ServerDeadlines deadlines;
  private final StateLock state;

  ImmediateAnswers(
      ServerWork work,
      LocateSteps steps,
      Leases leases,
      ServerCommands commands,
      ServerDeadlines deadlines,
      StateLock state) {
    this.work = work;
    this.steps = steps;
    this.leases = leases;
    this.commands = commands;
    this.deadlines = deadlines;
    this.state = state;
  }

  /**
   * Answers a LOCATE if it is small, as far as it needs no disk; disk threads do the rest.
   *
   * @return false when the server's thread must begin it
   */
  boolean tryLocate(LocateTask task) {
    return work.isIdle() && isSmall(task.call()) && steps.tryBegin(task);
  }

  private static boolean isSmall(LocateCall call) {
    return Locate.requestedBlocks(call.request()) <= MAX_BLOCKS
        && Locate.releasedLeases(call.request()) <= MAX_LEASES;
  }

  /**
   * Executes a RELEASE if it is small; repeats it later after an Error.
   *
   * @return false when the server's thread must execute it
   */
  boolean tryRelease(RepeatedCommands.Command command, long[] leaseIds) {
    return leaseIds.length <= MAX_LEASES
        && work.isIdle()
        && !work.hasEnded()
        && tryExecute(command, leaseIds);
  }

  /** Allocates nothing after an Error: the server's thread runs the command again. */
  private boolean tryExecute(RepeatedCommands.Command command, long[] leaseIds) {
    if (!state.tryLock()) {
      return false;
    }
    long deadlineNs;
    try {
      if (leases.held(leaseIds) > MAX_HELD) {
        return false;
      }
      command.run();
    } catch (Throwable e) {
      commands.onFailure(command, e, work.tickNs());
    } finally {
      try {
        deadlineNs = deadlines.nextNs();
      } finally {
        state.unlock();
      }
    }
    deadlines.onChange(deadlineNs);
    return true;
  }
}
