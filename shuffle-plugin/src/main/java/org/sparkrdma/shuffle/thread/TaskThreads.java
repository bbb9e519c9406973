// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.thread;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads that run tasks, between a minimum, which end with the close only, and a maximum. A task
 * takes an idle thread, else a new one. It waits when the maximum is reached, or when the system
 * refuses another thread. A refused thread is requested again once a second while tasks wait.
 *
 * <p>A task may also be due later; until then it holds no thread.
 *
 * <p>While one thread lives, a hand-over never fails and never runs the task on its caller's
 * thread, and that of a {@link Task} allocates nothing: a caller that must not wait, such as the
 * agent, depends on it. A {@link java.util.concurrent.ThreadPoolExecutor} does not queue a task
 * when a new thread is refused. Safe for any thread; its creator starts and closes it.
 */
public final class TaskThreads implements Executor, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TaskThreads.class);

  /** Time without further requests after a refusal: the JVM writes a line for each. */
  private static final long REFUSED_NS = TimeUnit.SECONDS.toNanos(1);

  private static final long NEVER_NS = Long.MAX_VALUE;

  private final ThreadFactory factory;
  private final int min;
  private final int max;
  private final long idleNs;
  private final LongSupplier nanoClock;
  private final Executor afterRefusal;
  private final Runnable requestRefused = this::requestRefused;

  /** Tasks that wait for a thread. */
  private Task first;

  private Task last;
  private int waiting;

  /** Tasks that are due later, in no order. */
  private Task delayed;

  private boolean withoutDelays;

  private int threads;

  /** Threads without a task, also those that are starting or were notified of one. */
  private int idle;

  private boolean refused;
  private long refusedNs;

  /** Whether {@link #requestRefused} will run. */
  private boolean requestsLater;

  private boolean closed;

  /** Work that waits for a thread without another object. It waits in one place at a time. */
  public abstract static class Task implements Runnable {
    private Task next;

    /** Time at which it is due, if it is delayed. */
    private long dueNs;

    /** Any other work, so that its hand-over allocates nothing. */
    public static Task of(Runnable work) {
      return new Wrapped(work);
    }
  }

  private static final class Wrapped extends Task {
    private final Runnable work;

    Wrapped(Runnable work) {
      this.work = work;
    }

    @Override
    public void run() {
      work.run();
    }
  }

  /**
   * @param factory creates the threads, as {@link #named} does
   * @param min number of threads that do not end before the close, at least one
   * @param maxIdle time after which one of the others ends without a task
   */
  public TaskThreads(ThreadFactory factory, int min, int max, Duration maxIdle) {
    this(
        factory,
        min,
        max,
        maxIdle,
        System::nanoTime,
        CompletableFuture.delayedExecutor(REFUSED_NS, TimeUnit.NANOSECONDS, Runnable::run));
  }

  /**
   * @param afterRefusal runs what it gets after the time without further requests; not on a thread
   *     of this object, because all of them may be busy
   */
  TaskThreads(
      ThreadFactory factory,
      int min,
      int max,
      Duration maxIdle,
      LongSupplier nanoClock,
      Executor afterRefusal) {
    this.factory = factory;
    this.min = min;
    this.max = max;
    this.idleNs = maxIdle.toNanos();
    this.nanoClock = nanoClock;
    this.afterRefusal = afterRefusal;
  }

  /** Creates daemon threads with numbered names. */
  public static ThreadFactory named(String name) {
    AtomicInteger count = new AtomicInteger();
    return work -> {
      Thread thread = new Thread(work, name + "-" + count.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
  }

  /**
   * Starts the minimum of threads. Without this they start with the first tasks.
   *
   * @throws ThreadShortageException when the system refuses one; those that were started end with
   *     the close
   */
  public synchronized void start() {
    while (threads < min) {
      startThread();
    }
  }

  /**
   * Runs a task on one of the threads.
   *
   * @throws RejectedExecutionException after the close
   * @throws ThreadShortageException when no thread lives and the system refuses the first one
   */
  @Override
  public void execute(Runnable work) {
    Task task = work instanceof Task own ? own : Task.of(work);
    synchronized (this) {
      if (closed) {
        throw new RejectedExecutionException("closed");
      }
      if (waiting >= idle && threads < max) {
        addThread();
      }
      add(task);
      notify();
    }
  }

  /**
   * Runs a task on one of the threads after a time. Allocates nothing. After {@link #endDelays} or
   * the close it runs at once.
   *
   * @return false when it is not taken: after {@link #endDelays} or the close, or when no thread
   *     lives
   */
  public synchronized boolean tryExecuteAfter(Task task, long delayMs) {
    if (withoutDelays || closed || threads == 0) {
      return false;
    }
    task.dueNs = nanoClock.getAsLong() + TimeUnit.MILLISECONDS.toNanos(delayMs);
    task.next = delayed;
    delayed = task;
    // An idle thread now waits until then; one that is busy looks at it afterwards.
    notify();
    return true;
  }

  /** Runs all delayed tasks now; from now on none is delayed. */
  public synchronized void endDelays() {
    withoutDelays = true;
    queueDue(nanoClock.getAsLong());
    if (threads > 0 && threads < max && waiting > idle) {
      addThread();
    }
    notifyAll();
  }

  /** Whether the next task would wait until a thread has finished another one. */
  public synchronized boolean isExhausted() {
    return waiting >= idle && (threads == max || (threads > 0 && wasRefused()));
  }

  /** The task waits when there is no other thread, unless it would wait for ever. */
  private void addThread() {
    if (threads == 0) {
      startThread();
    } else if (!wasRefused()) {
      try {
        startThread();
        refused = false;
      } catch (Throwable e) {
        // A living thread takes the task.
        refused = true;
        refusedNs = nanoClock.getAsLong();
        requestLater();
      }
    }
  }

  private boolean wasRefused() {
    return refused && nanoClock.getAsLong() - refusedNs < REFUSED_NS;
  }

  /** Living threads may be busy for long, and there may be no further task. */
  private void requestLater() {
    if (requestsLater) {
      return;
    }
    try {
      afterRefusal.execute(requestRefused);
      requestsLater = true;
    } catch (Throwable e) {
      // No memory, or no thread that waits: the next task requests the thread.
    }
  }

  private synchronized void requestRefused() {
    requestsLater = false;
    // The clocks of this object and of the one that has waited may differ a little.
    refused = false;
    while (!closed && !refused && threads < max && lacksThread()) {
      addThread();
    }
  }

  private boolean lacksThread() {
    return waiting > idle || (delayed != null && idle == 0);
  }

  private void startThread() {
    Thread thread = factory.newThread(this::work);
    threads++;
    idle++;
    boolean started = false;
    try {
      ThreadShortageException.start(thread);
      started = true;
    } finally {
      if (!started) {
        threads--;
        idle--;
      }
    }
  }

  private void add(Task task) {
    if (first == null) {
      first = task;
    } else {
      last.next = task;
    }
    last = task;
    waiting++;
  }

  private void work() {
    Task task = take();
    while (task != null) {
      runSafely(task);
      task = takeNext();
    }
  }

  /**
   * Runs work on the caller's thread, one of these, as they run their tasks: logs what it throws.
   */
  public static void runSafely(Runnable work) {
    // Earlier work may have left its thread as interrupted.
    var unused = Thread.interrupted();
    try {
      work.run();
    } catch (Throwable e) {
      log(e);
    }
  }

  private static void log(Throwable e) {
    try {
      LOG.warn("Unexpected failure of a task; its thread continues", e);
    } catch (Throwable noMemory) {
      // The thread continues all the same.
    }
  }

  private synchronized Task takeNext() {
    idle++;
    return take();
  }

  /** Waits for a task; null when the thread ends. An idle thread calls this. */
  private synchronized Task take() {
    long nowNs = nanoClock.getAsLong();
    long sinceNs = nowNs;
    long dueInNs = queueDue(nowNs);
    while (first == null) {
      long idleLeftNs = mayEnd() ? sinceNs + idleNs - nowNs : NEVER_NS;
      if (closed || idleLeftNs <= 0) {
        idle--;
        threads--;
        notifyAll();
        return null;
      }
      waitAtMost(Math.min(idleLeftNs, dueInNs));
      nowNs = nanoClock.getAsLong();
      dueInNs = queueDue(nowNs);
    }
    Task task = first;
    first = task.next;
    last = first == null ? null : last;
    task.next = null;
    waiting--;
    idle--;
    provideThreads();
    return task;
  }

  /** The last idle thread stays for the delayed tasks: those that are busy may be so for long. */
  private boolean mayEnd() {
    return threads > min && (delayed == null || idle > 1);
  }

  private void waitAtMost(long ns) {
    try {
      TimeUnit.NANOSECONDS.timedWait(this, ns);
    } catch (InterruptedException e) {
      // Only the close ends a thread.
    }
  }

  /**
   * Tasks that were delayed are queued without a thread for each, and another thread must wait for
   * the time of those that still are: this one may be busy for long.
   */
  private void provideThreads() {
    if (threads < max && lacksThread()) {
      addThread();
    }
    if (idle > 0 && (waiting > 0 || delayed != null)) {
      notify();
    }
  }

  /** Queues the delayed tasks that are due; returns the time until the next one is. */
  private long queueDue(long nowNs) {
    boolean all = withoutDelays || closed;
    long dueInNs = NEVER_NS;
    Task later = null;
    for (Task task = delayed; task != null; task = delayed) {
      delayed = task.next;
      task.next = null;
      if (all || task.dueNs - nowNs <= 0) {
        add(task);
      } else {
        dueInNs = Math.min(dueInNs, task.dueNs - nowNs);
        task.next = later;
        later = task;
      }
    }
    delayed = later;
    return dueInNs;
  }

  /** Takes no more tasks; the threads end when those that wait are done. Returns at once. */
  @Override
  public synchronized void close() {
    closed = true;
    notifyAll();
  }

  /** Whether all threads have ended after the close. */
  public synchronized boolean hasEnded() {
    return threads == 0;
  }

  /**
   * Waits for the end of all threads after the close.
   *
   * @return false when one still runs after the limit
   */
  public synchronized boolean await(Duration limit) throws InterruptedException {
    long deadlineNs = System.nanoTime() + limit.toNanos();
    long leftNs = limit.toNanos();
    while (threads > 0 && leftNs > 0) {
      TimeUnit.NANOSECONDS.timedWait(this, leftNs);
      leftNs = deadlineNs - System.nanoTime();
    }
    return threads == 0;
  }
}
