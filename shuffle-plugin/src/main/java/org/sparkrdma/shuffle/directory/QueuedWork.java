// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.function.LongSupplier;
import java.util.function.ObjLongConsumer;

/**
 * Work of the directory's thread that is queued or runs at most once at a time, and may repeat
 * itself.
 *
 * <p>The hand-over of a task may throw an Error although the task is queued: the executor adds it
 * before it starts a thread. Then this counts as not queued, so that {@link #queue} may repeat the
 * hand-over; of several tasks in the executor's queue only the last one works. Safe for any thread.
 */
final class QueuedWork {
  /** Result of work that does not repeat itself. */
  static final long NOT_AGAIN = -1;

  private enum State {
    IDLE,
    QUEUED,
    RUNNING
  }

  private final ObjLongConsumer<Runnable> thread;
  private final LongSupplier work;
  private State state = State.IDLE;

  /** Number of the last task that was handed over. */
  private int last;

  /**
   * @param thread runs a task on the directory's thread after a number of milliseconds; may throw
   *     any Error
   * @param work returns the milliseconds until it is repeated, or {@link #NOT_AGAIN}
   */
  QueuedWork(ObjLongConsumer<Runnable> thread, LongSupplier work) {
    this.thread = thread;
    this.work = work;
  }

  /** Queues it, unless it is queued or runs. May throw any Error; another call may repeat it. */
  void queue(long delayMs) {
    int number = beginHandOver();
    if (number == 0) {
      return;
    }
    boolean accepted = false;
    try {
      thread.accept(() -> run(number), delayMs);
      accepted = true;
    } finally {
      if (!accepted) {
        undoHandOver(number);
      }
    }
  }

  /** Returns the number of the task; 0 when there is one already. */
  private synchronized int beginHandOver() {
    if (state != State.IDLE) {
      return 0;
    }
    state = State.QUEUED;
    last = last == Integer.MAX_VALUE ? 1 : last + 1;
    return last;
  }

  private synchronized void undoHandOver(int number) {
    if (state == State.QUEUED && last == number) {
      state = State.IDLE;
    }
  }

  private synchronized boolean tryBegin(int number) {
    boolean begins = last == number && state != State.RUNNING;
    if (begins) {
      state = State.RUNNING;
    }
    return begins;
  }

  private synchronized void end() {
    state = State.IDLE;
  }

  private void run(int number) {
    if (!tryBegin(number)) {
      return;
    }
    long againMs = NOT_AGAIN;
    try {
      againMs = work.getAsLong();
    } finally {
      end();
    }
    if (againMs != NOT_AGAIN) {
      queueAgain(againMs);
    }
  }

  private void queueAgain(long delayMs) {
    try {
      queue(delayMs);
    } catch (Throwable e) {
      // No memory, or no thread: the next call of queue repeats it.
    }
  }
}
