// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.engine.UninterruptedJoin;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/**
 * The work of an open device: executes posted work, writes completions and connection events, reads
 * sockets, runs timers. The thread that polls does it, as with libfabric's manual progress: {@link
 * #poll}, {@link #sleep} and {@link #ring} run it on their caller.
 *
 * <p><b>Lock.</b> One lock guards queue pairs (except their queues), sockets, peers and timers. A
 * thread that posts and finds it taken sets the queue pair's bit in the shared table, as a peer
 * does that has delivered a message; the holder looks for bits after the unlock. Long requests are
 * copied in pieces. The lock is free between two pieces, and threads that wait for it come first.
 *
 * <p><b>Threads.</b> {@link LoopState} has which thread makes the progress, and where others wait.
 */
final class DeviceLoop {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceLoop.class);
  private static final long SELECT_EVERY_NS = 50_000;

  /** Maximum number of turns after an unlock: a peer may set bits of the table without end. */
  private static final int MAX_TURNS = 16;

  private final ReentrantLock lock = new ReentrantLock();
  private final SharedTable table;
  private final Runnable onFailure;
  private final Thread helper;
  final Selector selector;
  final LoopState state;
  private final IntConsumer onRung = this::onRung;

  // Guarded by the lock.
  private final SoftQueuePair[] queuePairs = new SoftQueuePair[SharedTable.QUEUE_PAIRS];
  private final ArrayDeque<SoftQueuePair> runnable = new ArrayDeque<>();
  private final PriorityQueue<Timer> timers = new PriorityQueue<>();
  private final List<SoftCompletionQueue> unsignalled = new ArrayList<>();
  private long selectedNs;
  private long nowNs;

  private volatile boolean ended;

  /**
   * @param threads creates the helper
   * @param onFailure called once when the work has failed, and no more is done
   */
  DeviceLoop(String name, SharedTable table, ThreadFactory threads, Runnable onFailure)
      throws IOException {
    this.table = table;
    this.onFailure = onFailure;
    selector = Selector.open();
    state = new LoopState(selector, table);
    helper = threads.newThread(this::help);
    helper.setName(name);
    helper.setDaemon(true);
  }

  /** Starts the helper. */
  void start() {
    helper.start();
  }

  /** Ends the progress and the helper, and closes the selector with the sockets that are left. */
  void stop() {
    call(() -> ended = true);
    LockSupport.unpark(helper);
    UninterruptedJoin.await(helper);
    try {
      for (SelectionKey key : selector.keys()) {
        key.channel().close();
      }
      selector.close();
    } catch (IOException e) {
      LOG.warn("Could not close selector: thread={}", helper.getName(), e);
    }
  }

  // Called by any thread.

  /** Ends the progress for good: what peers send afterwards is not received. */
  void abandon(String reason) {
    call(
        () -> {
          if (!ended) {
            LOG.error("Soft device failed: {}", reason);
            fail();
          }
        });
  }

  /**
   * The caller polls connection events, or a completion queue, which is empty: it makes progress.
   *
   * @param selects whether it looks at sockets when there is nothing else to do
   */
  void poll(boolean selects) {
    state.onPoll(helper);
    if (!lock.hasQueuedThreads() && lock.tryLock()) {
      try {
        round(selects);
      } finally {
        unlock();
      }
    }
  }

  /**
   * The queue pair has new work. The caller executes it, unless another thread has the lock: that
   * one does it then. Long copies are left to threads that poll. Allocates nothing.
   */
  void ring(SoftQueuePair queuePair) {
    if (lock.tryLock()) {
      try {
        activate(queuePair);
        runPosted();
      } finally {
        unlock();
      }
    } else {
      table.ring(queuePair.index());
      runRung();
    }
  }

  /** Runs a command with the lock, between two pieces of copies. */
  void call(Runnable command) {
    lock.lock();
    try {
      nowNs = System.nanoTime();
      command.run();
      signalNow();
    } finally {
      // It has closed channels of the selector, or added work.
      state.wakeSleeper();
      unlock();
    }
  }

  /** Waits for a wake-up of the channel, and makes progress when no other thread does. */
  void sleep(SoftChannel channel, long timeoutNs) {
    long startNs = System.nanoTime();
    long leftNs = timeoutNs;
    while (!channel.isSignalled() && leftNs > 0 && !Thread.currentThread().isInterrupted()) {
      poll(true);
      if (!channel.isSignalled()) {
        rest(leftNs, channel);
      }
      leftNs = timeoutNs - (System.nanoTime() - startNs);
    }
  }

  /** Executes what was rung while the lock was taken, unless another thread has the lock again. */
  private void runRung() {
    for (int turn = 0; turn < MAX_TURNS && table.hasArrivals() && lock.tryLock(); turn++) {
      try {
        table.takeArrivals(onRung);
        signalNow();
        runPosted();
      } finally {
        lock.unlock();
      }
    }
  }

  private void runPosted() {
    nowNs = System.nanoTime();
    runQueuePairs(true);
    if (!runnable.isEmpty()) {
      state.wakeSleeper();
    }
  }

  private void unlock() {
    lock.unlock();
    runRung();
  }

  // Called with the lock.

  /** The time of this round. */
  long nowNs() {
    return nowNs;
  }

  /** Whether the progress has ended: nothing is received any more. */
  boolean hasEnded() {
    return ended;
  }

  /** Messages of peers arrive at a queue pair under this index; null for none. */
  void setQueuePair(int index, SoftQueuePair queuePair) {
    queuePairs[index] = queuePair;
  }

  /** Gives a queue pair a turn soon. */
  void activate(SoftQueuePair queuePair) {
    if (!queuePair.active) {
      queuePair.active = true;
      runnable.add(queuePair);
    }
  }

  /** Runs a command at a time, which it checks whether it still has something to do. */
  void schedule(long atNs, Runnable command) {
    timers.add(new Timer(atNs, command));
    if (timers.element().atNs == atNs) {
      state.wakeSleeper();
    }
  }

  private record Timer(long atNs, Runnable command) implements Comparable<Timer> {
    @Override
    public int compareTo(Timer other) {
      return Long.signum(atNs - other.atNs);
    }
  }

  /** Signals the queue's channel at the end of this round, or sooner. */
  void signalLater(SoftCompletionQueue queue) {
    unsignalled.add(queue);
  }

  /** Signals the completions so far, so that their owners work at the same time. */
  void signalNow() {
    for (int i = 0; i < unsignalled.size(); i++) {
      unsignalled.get(i).signalIfArmed();
    }
    unsignalled.clear();
  }

  private void round(boolean selects) {
    if (ended) {
      return;
    }
    boolean complete = false;
    try {
      nowNs = System.nanoTime();
      boolean worked = fireTimers();
      if (table.hasArrivals()) {
        worked = true;
        table.takeArrivals(onRung);
      }
      // The owners of what was received work while answers and READs are on their way.
      signalNow();
      worked |= runQueuePairs(false);
      boolean due = nowNs - selectedNs > SELECT_EVERY_NS || (selects && !worked);
      if (due && !state.isAsleep()) {
        selector.selectNow();
        dispatch();
      }
      complete = true;
    } catch (IOException | RuntimeException e) {
      LOG.error("Soft device failed: thread={}", Thread.currentThread().getName(), e);
    } finally {
      // After an Error too, which goes on to the caller.
      if (!complete) {
        fail();
      }
    }
  }

  private void fail() {
    ended = true;
    onFailure.run();
  }

  private boolean fireTimers() {
    boolean fired = false;
    while (!timers.isEmpty() && timers.element().atNs - nowNs <= 0) {
      timers.remove().command.run();
      fired = true;
    }
    return fired;
  }

  private void onRung(int index) {
    SoftQueuePair queuePair = queuePairs[index];
    if (queuePair != null) {
      queuePair.onArrival();
      activate(queuePair);
    }
  }

  /** Handles the channels that were selected, and executes what they have activated. */
  private void dispatch() {
    selectedNs = System.nanoTime();
    nowNs = selectedNs;
    if (!selector.selectedKeys().isEmpty()) {
      selector.selectedKeys().forEach(key -> ((Runnable) key.attachment()).run());
      selector.selectedKeys().clear();
      signalNow();
      runQueuePairs(false);
    }
  }

  /** Gives each queue pair a turn, and signals its completions; returns whether there was one. */
  private boolean runQueuePairs(boolean posting) {
    int count = runnable.size();
    for (int i = 0; i < count; i++) {
      SoftQueuePair queuePair = runnable.remove();
      queuePair.active = false;
      boolean again = queuePair.run(posting);
      signalNow();
      if (again) {
        activate(queuePair);
        if (lock.hasQueuedThreads() || table.hasArrivals()) {
          // They do not wait for the copies of all queue pairs.
          break;
        }
      }
    }
    return count > 0;
  }

  // Resting.

  /**
   * Waits in the selector, or parked while another thread is there.
   *
   * @param channel ends the rest when it is signalled; null for the helper
   */
  private void rest(long limitNs, SoftChannel channel) {
    long waitNs = 0;
    boolean selects = false;
    lock.lock();
    try {
      selects = !ended && state.trySleep(channel != null);
      if (selects) {
        boolean hasWork = !runnable.isEmpty() || table.hasArrivals();
        waitNs = hasWork ? 0 : Math.min(limitNs, untilTimerNs());
      }
    } finally {
      unlock();
    }
    if (selects) {
      try {
        state.select(channel != null && channel.isSignalled() ? 0 : waitNs);
      } catch (IOException e) {
        LOG.error("Soft device failed: thread={}", Thread.currentThread().getName(), e);
        fail();
      } finally {
        wakeFromRest();
      }
    } else if (channel != null && !channel.isSignalled()) {
      LockSupport.parkNanos(this, limitNs);
    }
  }

  private long untilTimerNs() {
    return timers.isEmpty() ? Long.MAX_VALUE : timers.element().atNs - System.nanoTime();
  }

  private void wakeFromRest() {
    lock.lock();
    try {
      state.leave();
      if (!ended) {
        dispatch();
      }
    } finally {
      unlock();
    }
  }

  // The helper.

  private void help() {
    try {
      while (!ended) {
        if (state.isPolled()) {
          LockSupport.parkNanos(this, state.pauseNs());
        } else {
          makeProgress();
        }
      }
    } catch (RuntimeException e) {
      LOG.error("Soft device failed: thread={}", helper.getName(), e);
    } finally {
      if (!ended) {
        fail();
      }
    }
  }

  private void makeProgress() {
    lock.lock();
    try {
      round(true);
    } finally {
      unlock();
    }
    if (!ended && !state.isPolled()) {
      rest(Long.MAX_VALUE, null);
    }
  }
}
