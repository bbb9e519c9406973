// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongSupplier;
import org.sparkrdma.memory.PinnedBudget;

/**
 * The work of the server's thread, in turns: commands, LOCATEs as far as they need no disk, and
 * checks that are due; then its end. Any thread submits work. The server's thread does it, and
 * after its end the submitting threads do it themselves.
 */
final class ServerWork {
  /** Maximum number of commands between two checks of the leases. */
  private static final int MAX_BATCH = 64;

  private final ServingParts parts;
  private final LocateSteps steps;
  private final ServerCommands commands;
  private final ServerSleep sleep;
  private final DiskThreads diskThreads;
  private final PinnedBudget budget;
  private final StateLock state;
  private final LongSupplier nanoClock;
  private final Queue<LocateTask> requests = new ConcurrentLinkedQueue<>();

  private final Runnable expireLeases = this::expireLeases;
  private final Runnable releaseIdle = this::releaseIdle;
  private final Runnable checkOpen = this::checkOpen;
  private final Runnable continueShortage;

  /** Time of the last turn of the server's thread, which sets it. */
  private volatile long tickNs;

  /** Whether commands and LOCATEs are being executed, of which none must be overtaken. */
  private volatile boolean busy;

  private volatile boolean ended;

  /**
   * @param diskThreads closed at the end
   * @param budget reports shortages to it until the end
   */
  ServerWork(
      ServingParts parts,
      LocateSteps steps,
      ServerCommands commands,
      ServerSleep sleep,
      DiskThreads diskThreads,
      PinnedBudget budget,
      StateLock state,
      LongSupplier nanoClock) {
    this.parts = parts;
    this.steps = steps;
    this.commands = commands;
    this.sleep = sleep;
    this.diskThreads = diskThreads;
    this.budget = budget;
    this.state = state;
    this.nanoClock = nanoClock;
    tickNs = nanoClock.getAsLong();
    ShortageCommand shortage = new ShortageCommand(this::submit, this::makeRoom);
    continueShortage = shortage::continueLater;
    budget.onShortage(shortage);
  }

  /** A part of the room that a shortage needs; threads that wait for the lock precede the rest. */
  private boolean makeRoom(long lengthBytes) {
    boolean isPart = parts.idle().makeRoom(lengthBytes);
    if (isPart) {
      state.letOthersIn();
    }
    return isPart;
  }

  /** Submits a command. Any thread. */
  void submit(Runnable command) {
    commands.add(command);
    wakeUp();
  }

  /** Submits a LOCATE. Any thread. */
  void submit(LocateTask request) {
    requests.add(request);
    wakeUp();
  }

  private void wakeUp() {
    sleep.wakeUp();
    if (ended) {
      drain();
    }
  }

  /** Whether commands or LOCATEs are waiting. Takes no lock. */
  boolean hasWork() {
    return !commands.isEmpty() || !requests.isEmpty();
  }

  /** Whether no command or LOCATE waits or is being executed. Takes no lock. */
  boolean isIdle() {
    return !hasWork() && !busy;
  }

  /** Whether everything is deregistered, and no thread uses registered memory any more. */
  boolean hasEnded() {
    return ended;
  }

  /** Time of the last turn. */
  long tickNs() {
    return tickNs;
  }

  /** Time by the server's clock. */
  long nowNs() {
    return nanoClock.getAsLong();
  }

  /** Logs an unexpected failure; never throws. */
  void log(Throwable e) {
    commands.log(e);
  }

  /**
   * A turn: executes commands and a batch of LOCATEs, and removes expired leases. The server's
   * thread; after its end callers execute their commands themselves.
   *
   * @return number of executed commands and LOCATEs
   */
  int doWork() {
    busy = true;
    try {
      return turn();
    } finally {
      busy = false;
    }
  }

  private int turn() {
    int done = commands.executeAll(tickNs);
    LocateTask task = requests.poll();
    while (task != null) {
      steps.begin(task);
      done += 1 + commands.executeAll(tickNs);
      task = done < MAX_BATCH ? requests.poll() : null;
    }
    tickNs = nanoClock.getAsLong();
    commands.repeat(tickNs);
    commands.execute(expireLeases, tickNs);
    commands.execute(releaseIdle, tickNs);
    commands.execute(checkOpen, tickNs);
    commands.execute(continueShortage, tickNs);
    steps.handOver();
    return done;
  }

  private void expireLeases() {
    parts.leases().expire(tickNs);
  }

  private void releaseIdle() {
    parts.idle().release(tickNs);
  }

  private void checkOpen() {
    parts.locator().open().check(tickNs);
  }

  private void drain() {
    while (doWork() > 0) {
      // More commands may have been submitted.
    }
  }

  /** Ends the work, also after an Error; a second call does nothing. */
  void shutDown() {
    if (ended) {
      return;
    }
    budget.onShortage(lengthBytes -> {});
    commands.execute(parts.locator()::stop, tickNs);
    drain();
    // Reads into slots and registrations must have ended before their memory is unmapped.
    diskThreads.close();
    commands.execute(parts.locator().open()::abortAgain, tickNs);
    state.lock();
    try {
      parts.close();
      ended = true;
    } finally {
      state.unlock();
    }
    drain();
  }
}
