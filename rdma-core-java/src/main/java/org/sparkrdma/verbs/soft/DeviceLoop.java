// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.engine.ThreadEnd;
import org.sparkrdma.verbs.soft.shared.SharedTable;
import org.sparkrdma.verbs.soft.wire.SelectionHandler;

/**
 * The work of an open device: executes posted work, moves bytes between sockets, writes completions
 * and connection events, runs timers. The thread that polls does it, as with libfabric's manual
 * progress: {@link #poll}, {@link #sleep} and {@link #ring} run it on their caller.
 *
 * <p><b>Lock.</b> One lock guards queue pairs (except their queues), sockets, peers and timers. A
 * thread that finds it taken leaves its work to the holder, which looks for it after the unlock.
 * The bytes of a one-sided operation are copied without the lock, by one thread at a time. During a
 * copy other threads only execute the sends of other queue pairs: commands, timers, sockets and
 * arrivals wait for the end of the piece, so that nothing that the copy uses is closed or flushed.
 *
 * <p><b>Sockets.</b> One thread at a time is in the selector: the sleeper. It is a thread in {@link
 * #sleep}, or the helper. Others in {@link #sleep} park; the sleeper wakes one of them when it
 * leaves. Before it selects, the sleeper sets {@link #asleep} and then looks for work once more. A
 * thread that adds work reads {@link #asleep} afterwards. Both are volatile, so one of the two sees
 * the other. The shared table has the same flag for peers, see {@link SharedTable#ring}: a peer
 * that delivers a message sends a byte on the socket only when it has cleared that flag.
 *
 * <p><b>Helper.</b> While the device is polled, its thread looks once in a millisecond whether it
 * still is, and parks when a sleeper sleeps for long. When no thread has polled for a millisecond,
 * it makes the progress itself until somebody polls again.
 */
final class DeviceLoop {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceLoop.class);
  private static final long SELECT_EVERY_NS = 50_000;
  private static final long MILLI_NS = 1_000_000;
  private static final long SHORT_PAUSE_NS = 100_000;

  /** Number of checks, one in a millisecond, after which the helper of a sleeping device parks. */
  private static final int IDLE_CHECKS = 50;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition copyEnded = lock.newCondition();
  private final SharedTable table;
  private final Thread helper;
  private final Selector selector;
  private final Queue<Runnable> commands = new ConcurrentLinkedQueue<>();
  private final Doorbells doorbells = new Doorbells();
  private final Consumer<SoftQueuePair> activation = this::activate;
  private final AtomicReferenceArray<SoftQueuePair> queuePairs =
      new AtomicReferenceArray<>(SharedTable.QUEUE_PAIRS);
  private final IntConsumer onArrival = this::onArrival;
  private final Set<SoftConnectionManager> managers = ConcurrentHashMap.newKeySet();

  // Guarded by the lock.
  private final ArrayDeque<SoftQueuePair> runnable = new ArrayDeque<>();
  private final Timers timers = new Timers();
  private final List<SoftCompletionQueue> unsignalled = new ArrayList<>();
  private final ArrayDeque<Thread> parked = new ArrayDeque<>();
  private SoftQueuePair copying;
  private int callers;
  private long selectedNs;
  private long nowNs;

  private final AtomicBoolean asleep = new AtomicBoolean();
  private volatile Thread sleeper;
  private volatile long sleeps;
  private volatile long polledNs = System.nanoTime() - MILLI_NS;
  private volatile boolean helperParked;
  private volatile boolean ended;

  DeviceLoop(String name, SharedTable table) throws IOException {
    this.table = table;
    selector = Selector.open();
    helper = new Thread(this::help, name);
    helper.setDaemon(true);
  }

  /** Starts the helper. */
  void start() {
    helper.start();
  }

  /** Ends the progress and the helper, and closes the selector. */
  void stop() {
    call(() -> ended = true);
    LockSupport.unpark(helper);
    ThreadEnd.await(helper);
    try {
      selector.close();
    } catch (IOException e) {
      LOG.warn("Could not close selector: thread={}", helper.getName(), e);
    }
  }

  // Called by any thread.

  /** A manager whose owner gets an event when the device fails. */
  void add(SoftConnectionManager manager) {
    managers.add(manager);
  }

  void remove(SoftConnectionManager manager) {
    managers.remove(manager);
  }

  /** Messages of peers arrive at a queue pair under this index of the shared table. */
  void add(SoftQueuePair queuePair, int index) {
    queuePairs.set(index, queuePair);
  }

  void remove(int index) {
    queuePairs.set(index, null);
  }

  /** The caller polls a completion queue, which is empty: it makes progress. */
  void poll() {
    progress(true);
  }

  /** The caller polls connection events. */
  void pollEvents() {
    progress(false);
  }

  private void progress(boolean selects) {
    polledNs = System.nanoTime();
    if (sleeper == helper) {
      wakeSleeper();
    }
    if (lock.tryLock()) {
      try {
        round(selects);
      } finally {
        unlock();
      }
    }
  }

  /**
   * The queue pair has new work. The caller executes it, except long copies, which are left to
   * threads that poll. Allocates nothing.
   */
  void ring(SoftQueuePair queuePair) {
    doorbells.tryRing(queuePair);
    runRung();
  }

  /** Runs a command soon, in the order given, on the thread that makes progress next. */
  void execute(Runnable command) {
    commands.add(command);
    wakeSleeper();
  }

  /** Runs a command after those given before. No copy is in progress meanwhile. */
  void call(Runnable command) {
    lock.lock();
    callers++;
    try {
      while (copying != null) {
        copyEnded.awaitUninterruptibly();
      }
      nowNs = System.nanoTime();
      runCommandsOfOthers();
      command.run();
      signalNow();
    } finally {
      callers--;
      // It has closed channels of the selector, or added work.
      wakeSleeper();
      unlock();
    }
  }

  /** Waits for a wake-up of the channel, and makes progress when no other thread does. */
  void sleep(SoftChannel channel, long timeoutNs) {
    long startNs = System.nanoTime();
    long leftNs = timeoutNs;
    while (!channel.isSignalled() && leftNs > 0 && !Thread.currentThread().isInterrupted()) {
      poll();
      if (!channel.isSignalled()) {
        rest(leftNs, channel);
      }
      leftNs = timeoutNs - (System.nanoTime() - startNs);
    }
  }

  /** Ends the rest of a thread in {@link #sleep}. */
  void wake(Thread thread) {
    if (sleeper == thread) {
      wakeSleeper();
    }
    LockSupport.unpark(thread);
  }

  private void wakeSleeper() {
    if (asleep.get() && asleep.compareAndSet(true, false)) {
      selector.wakeup();
      LockSupport.unpark(sleeper);
    }
  }

  /** Executes what was rung, unless another thread has the lock: that one does it then. */
  private void runRung() {
    while (!doorbells.isEmpty() && lock.tryLock()) {
      try {
        nowNs = System.nanoTime();
        doorbells.answer(activation);
        runQueuePairs(true);
        signalNow();
        if (!runnable.isEmpty()) {
          wakeSleeper();
        }
      } finally {
        lock.unlock();
      }
    }
  }

  private void unlock() {
    lock.unlock();
    runRung();
  }

  // Called with the lock.

  Selector selector() {
    return selector;
  }

  /** The time of this round. */
  long nowNs() {
    return nowNs;
  }

  /** Gives a queue pair a turn soon. */
  void activate(SoftQueuePair queuePair) {
    if (!queuePair.active) {
      queuePair.active = true;
      runnable.add(queuePair);
    }
  }

  /** Runs a command at a time. */
  Timers.Timer schedule(long atNs, Runnable command) {
    Timers.Timer timer = timers.schedule(atNs, command);
    if (timers.firstNs() == atNs) {
      wakeSleeper();
    }
    return timer;
  }

  void cancel(Timers.Timer timer) {
    timers.cancel(timer);
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

  /** Whether a copy may begin: no other one is in progress, and no caller waits for its end. */
  boolean mayCopy() {
    return copying == null && callers == 0;
  }

  /** Begins a copy of this queue pair, without the lock. */
  void beginCopy(SoftQueuePair queuePair) {
    copying = queuePair;
    unlock();
  }

  /** Ends a copy; has the lock again. */
  void endCopy() {
    lock.lock();
    copying = null;
    nowNs = System.nanoTime();
    if (callers > 0) {
      copyEnded.signalAll();
    }
  }

  private void round(boolean selects) {
    if (ended) {
      return;
    }
    boolean complete = false;
    try {
      nowNs = System.nanoTime();
      boolean worked = false;
      if (copying == null) {
        worked = runCommands();
        worked |= timers.fire(nowNs);
        worked |= takeArrivals();
      }
      worked |= doorbells.answer(activation);
      // The owners of what was received work while answers and READs are on their way.
      signalNow();
      worked |= runQueuePairs(false);
      signalNow();
      boolean due = nowNs - selectedNs > SELECT_EVERY_NS || (selects && !worked);
      if (due && copying == null && sleeper == null) {
        selector.selectNow();
        dispatch();
      }
      complete = true;
    } catch (IOException | RuntimeException e) {
      LOG.error("Soft device failed: thread={}", Thread.currentThread().getName(), e);
    } finally {
      if (!complete) {
        fail();
      }
    }
  }

  /** After an Error too, which goes on to the caller. */
  private void fail() {
    ended = true;
    managers.forEach(SoftConnectionManager::onDeviceFailed);
  }

  /** Handles the channels that were selected, and executes what they have activated. */
  private void dispatch() {
    selectedNs = System.nanoTime();
    nowNs = selectedNs;
    Set<SelectionKey> keys = selector.selectedKeys();
    if (!keys.isEmpty()) {
      for (SelectionKey key : keys) {
        ((SelectionHandler) key.attachment()).onSelected();
      }
      keys.clear();
      signalNow();
      runQueuePairs(false);
      signalNow();
    }
  }

  /** Their failure is one of the device and not of the caller. */
  private void runCommandsOfOthers() {
    try {
      runCommands();
    } catch (RuntimeException e) {
      LOG.error("Soft device failed: thread={}", Thread.currentThread().getName(), e);
      fail();
    }
  }

  private boolean takeArrivals() {
    boolean any = table.hasArrivals();
    if (any) {
      table.takeArrivals(onArrival);
    }
    return any;
  }

  private void onArrival(int index) {
    SoftQueuePair queuePair = queuePairs.get(index);
    if (queuePair != null) {
      queuePair.onArrival();
    }
  }

  private boolean runCommands() {
    boolean ran = false;
    for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
      command.run();
      ran = true;
    }
    return ran;
  }

  private boolean runQueuePairs(boolean posting) {
    int count = runnable.size();
    for (int i = 0; i < count; i++) {
      SoftQueuePair queuePair = runnable.poll();
      if (queuePair == null) {
        // Another thread has executed it during a copy.
        break;
      }
      if (queuePair == copying) {
        runnable.add(queuePair);
      } else {
        queuePair.active = false;
        if (queuePair.run(posting)) {
          activate(queuePair);
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
  @SuppressWarnings("NonAtomicVolatileUpdate") // only under the lock
  private void rest(long limitNs, SoftChannel channel) {
    long waitNs = 0;
    lock.lock();
    boolean selects = sleeper == null && !ended;
    try {
      if (selects) {
        sleeper = Thread.currentThread();
        sleeps++;
        asleep.set(true);
        table.setAsleep(true);
        waitNs = hasWork() ? 0 : Math.min(limitNs, untilTimerNs());
      } else if (channel != null) {
        parked.add(Thread.currentThread());
      }
    } finally {
      unlock();
    }
    if (!selects) {
      park(limitNs, channel);
      return;
    }
    try {
      select(channel != null && channel.isSignalled() ? 0 : waitNs);
    } finally {
      wakeFromRest();
    }
  }

  private void park(long limitNs, SoftChannel channel) {
    if (channel != null) {
      if (!channel.isSignalled()) {
        LockSupport.parkNanos(this, limitNs);
      }
      lock.lock();
      parked.remove(Thread.currentThread());
      unlock();
    }
  }

  private boolean hasWork() {
    return !doorbells.isEmpty()
        || !commands.isEmpty()
        || !runnable.isEmpty()
        || table.hasArrivals()
        || copying != null;
  }

  private long untilTimerNs() {
    return timers.isEmpty() ? Long.MAX_VALUE : timers.firstNs() - System.nanoTime();
  }

  private void select(long waitNs) {
    try {
      if (waitNs >= MILLI_NS) {
        selector.select(waitNs == Long.MAX_VALUE ? 0 : waitNs / MILLI_NS);
      } else {
        if (waitNs > 0) {
          LockSupport.parkNanos(this, Math.min(waitNs, SHORT_PAUSE_NS));
        }
        selector.selectNow();
      }
    } catch (IOException e) {
      LOG.error("Soft device failed: thread={}", Thread.currentThread().getName(), e);
      fail();
    }
  }

  private void wakeFromRest() {
    lock.lock();
    try {
      asleep.set(false);
      table.setAsleep(false);
      sleeper = null;
      Thread next = parked.peek();
      if (next != null) {
        LockSupport.unpark(next);
      }
      if (helperParked) {
        LockSupport.unpark(helper);
      }
      if (!ended && copying == null) {
        dispatch();
      }
    } finally {
      unlock();
    }
  }

  // The helper.

  private void help() {
    long lastSleep = 0;
    int idleChecks = 0;
    try {
      while (!ended) {
        idleChecks = sleeper != null && sleeps == lastSleep ? idleChecks + 1 : 0;
        lastSleep = sleeps;
        if (!isPolled()) {
          makeProgress();
        } else if (idleChecks < IDLE_CHECKS) {
          LockSupport.parkNanos(this, MILLI_NS);
        } else {
          helperParked = true;
          if (sleeper != null && !ended) {
            LockSupport.park(this);
          }
          helperParked = false;
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
    if (!ended && !isPolled()) {
      rest(Long.MAX_VALUE, null);
    }
  }

  private boolean isPolled() {
    return sleeper != null || System.nanoTime() - polledNs < MILLI_NS;
  }
}
