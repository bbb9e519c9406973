// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.soft.wire.SelectionHandler;

/**
 * The thread of an open device: executes posted work, moves bytes between sockets, writes
 * completions and connection events, runs timers. It alone changes queue pairs (except their
 * queues), sockets and peers.
 *
 * <p>Other threads reach it by {@link #ring}, {@link #execute} and {@link #call}; it never waits
 * for one of them. When idle it spins for a few microseconds and then blocks. Started and stopped
 * by the device.
 */
final class DeviceThread {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceThread.class);
  private static final long SPIN_NS = 20_000;
  private static final long SELECT_EVERY_NS = 50_000;
  private static final long MILLI_NS = 1_000_000;
  private static final long SHORT_PAUSE_NS = 100_000;

  private final Thread thread;
  private final Selector selector;
  private final Queue<Runnable> commands = new ConcurrentLinkedQueue<>();
  private final Doorbells doorbells = new Doorbells();
  private final AtomicBoolean asleep = new AtomicBoolean();
  private final ArrayDeque<SoftQueuePair> runnable = new ArrayDeque<>();
  private final Timers timers = new Timers();
  private final List<SoftCompletionQueue> unsignalled = new ArrayList<>();
  private final Consumer<SelectionKey> dispatch = DeviceThread::onSelected;
  private final Consumer<SoftQueuePair> activation = this::activate;
  private long selectedNs;
  private long nowNs;
  private volatile boolean stopped;
  private volatile boolean ended;

  DeviceThread(String name) throws IOException {
    selector = Selector.open();
    thread = new Thread(this::run, name);
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  /** Ends the thread after the commands given so far, and closes the selector. */
  void stop() {
    execute(() -> stopped = true);
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  // Called by any thread.

  /** Doorbell: the queue pair has new work. Allocates nothing. */
  void ring(SoftQueuePair queuePair) {
    if (doorbells.tryRing(queuePair)) {
      wakeup();
    }
  }

  /** Runs a command soon, in the order given. */
  void execute(Runnable command) {
    commands.add(command);
    wakeup();
  }

  /** Runs a command and returns when it is done; not for the device thread itself. */
  void call(Runnable command) {
    var done = new CountDownLatch(1);
    execute(
        () -> {
          try {
            command.run();
          } finally {
            done.countDown();
          }
        });
    boolean interrupted = false;
    while (!ended) {
      try {
        if (done.await(1, java.util.concurrent.TimeUnit.SECONDS)) {
          break;
        }
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void wakeup() {
    if (asleep.get() && asleep.compareAndSet(true, false)) {
      selector.wakeup();
      LockSupport.unpark(thread);
    }
  }

  // Called by the device thread.

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
    return timers.schedule(atNs, command);
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

  private void run() {
    try {
      while (!stopped) {
        try {
          round();
        } catch (RuntimeException | IOException e) {
          LOG.error("Unexpected failure in soft device: thread={}", thread.getName(), e);
        }
      }
    } finally {
      ended = true;
      closeSelector();
    }
  }

  private void closeSelector() {
    try {
      selector.close();
    } catch (IOException e) {
      LOG.warn("Could not close selector: thread={}", thread.getName(), e);
    }
  }

  private void round() throws IOException {
    nowNs = System.nanoTime();
    boolean worked = runCommands();
    worked |= doorbells.answer(activation);
    worked |= timers.fire(nowNs);
    // The owners of what was received work while answers and READs are on their way.
    signalNow();
    worked |= runQueuePairs();
    signalNow();
    if (worked) {
      if (nowNs - selectedNs > SELECT_EVERY_NS) {
        select(0);
      }
    } else if (!spin()) {
      rest();
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

  private boolean runQueuePairs() {
    int count = runnable.size();
    for (int i = 0; i < count; i++) {
      SoftQueuePair queuePair = runnable.poll();
      queuePair.active = false;
      if (queuePair.run()) {
        activate(queuePair);
      }
    }
    return count > 0;
  }

  private boolean hasCommands() {
    return !doorbells.isEmpty() || !commands.isEmpty();
  }

  private boolean spin() throws IOException {
    if (select(0)) {
      return true;
    }
    long until = System.nanoTime() + SPIN_NS;
    while (System.nanoTime() - until < 0) {
      if (hasCommands()) {
        return true;
      }
      Thread.onSpinWait();
    }
    return false;
  }

  private void rest() throws IOException {
    asleep.set(true);
    if (hasCommands()) {
      asleep.set(false);
      return;
    }
    if (timers.isEmpty()) {
      select(-1);
    } else {
      long leftNs = timers.firstNs() - System.nanoTime();
      if (leftNs >= MILLI_NS) {
        select(leftNs / MILLI_NS);
      } else if (leftNs > 0) {
        LockSupport.parkNanos(this, Math.min(leftNs, SHORT_PAUSE_NS));
        select(0);
      }
    }
    asleep.set(false);
  }

  /** Negative waits without end, 0 does not wait. */
  private boolean select(long timeoutMs) throws IOException {
    int count =
        timeoutMs == 0
            ? selector.selectNow(dispatch)
            : selector.select(dispatch, Math.max(0, timeoutMs));
    nowNs = System.nanoTime();
    selectedNs = nowNs;
    return count > 0;
  }

  private static void onSelected(SelectionKey key) {
    ((SelectionHandler) key.attachment()).onSelected();
  }
}
