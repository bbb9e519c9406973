// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.sparkrdma.shuffle.thread.TaskThreads;

/**
 * Jobs for the threads of one disk, which peers get in turns, see {@link DiskTurns}: a peer with
 * many jobs delays no other one by more than its turn. Jobs of a peer that has ended are taken in
 * their turn, too; they find nothing to do.
 *
 * <p>The threads get no more jobs than they can run at once. A job that ends hands over the next
 * ones, or runs the next one itself when the threads take no more. So jobs wait here only while
 * another one is in work. Safe for any thread.
 */
final class DiskQueue {
  private final Executor threads;
  private final LongSupplier nanoClock;
  private final DiskTurns turns;

  /** Time of the last hand-over, or of the first job that has waited since then. */
  private long progressNs;

  /**
   * @param threads runs {@value DiskTurns#GROWTH} times as many jobs at once
   * @param count number of these threads that are used as long as no job takes long
   */
  DiskQueue(Executor threads, int count, LongSupplier nanoClock) {
    this.threads = threads;
    this.nanoClock = nanoClock;
    this.turns = new DiskTurns(count);
  }

  /**
   * Runs a job of a peer on a thread of this disk.
   *
   * @throws java.util.concurrent.RejectedExecutionException when the threads are stopped
   * @throws org.sparkrdma.shuffle.thread.ThreadShortageException when no thread would ever run it
   */
  synchronized void execute(long peer, Runnable work) {
    long nowNs = nanoClock.getAsLong();
    boolean waited = turns.hasWaiting();
    turns.add(peer, new Job(work, nowNs));
    if (!waited) {
      progressNs = nowNs;
    }
    DiskTurns.Turn next = turns.poll(nowNs);
    if (next == null) {
      return;
    }
    try {
      threads.execute((Job) next);
      progressNs = nowNs;
    } catch (Throwable e) {
      if (turns.inWork() == 1) {
        // Nothing else is in work, so nothing waited: it is the new job.
        turns.end(next, nowNs);
        throw e;
      }
      turns.undoPoll(next);
    }
  }

  /**
   * Hands over jobs that may begin because others take long. To be called now and then while jobs
   * wait; never throws.
   */
  synchronized void handOver() {
    if (!turns.hasWaiting()) {
      return;
    }
    long nowNs = nowNs();
    for (DiskTurns.Turn next = poll(nowNs); next != null; next = poll(nowNs)) {
      try {
        threads.execute((Job) next);
      } catch (Throwable e) {
        // The end of another job hands it over.
        turns.undoPoll(next);
        return;
      }
    }
  }

  /**
   * Hands over the next jobs after the end of one.
   *
   * @return the job that this thread must run; null for none
   */
  private synchronized Job end(Job ended) {
    long nowNs = nowNs();
    turns.end(ended, nowNs);
    for (DiskTurns.Turn next = poll(nowNs); next != null; next = poll(nowNs)) {
      try {
        threads.execute((Job) next);
      } catch (Throwable e) {
        // They are stopped, or there is no memory.
        return (Job) next;
      }
    }
    return null;
  }

  private DiskTurns.Turn poll(long nowNs) {
    DiskTurns.Turn next = turns.poll(nowNs);
    if (next != null) {
      progressNs = nowNs;
    }
    return next;
  }

  /** Never throws: each job that ends must be noted. */
  private long nowNs() {
    try {
      return nanoClock.getAsLong();
    } catch (Throwable e) {
      // Jobs seem to take less time.
      return progressNs;
    }
  }

  /**
   * Time for which a new job of this peer would wait at least, by what is known now: for which the
   * peer's oldest job has been waiting, or all jobs while the threads of the disk hang; 0 without
   * one.
   */
  synchronized long waitNs(long peer, long nowNs) {
    long ownNs = nowNs - turns.oldestSinceNs(peer, nowNs);
    return turns.isFull() && turns.hasWaiting() ? Math.max(ownNs, nowNs - progressNs) : ownNs;
  }

  /** Number of peers with jobs that wait or are in work. */
  synchronized int peers() {
    return turns.peers();
  }

  /** A job, which a thread takes without another object. */
  private final class Job extends DiskTurns.Turn {
    private final Runnable work;

    Job(Runnable work, long sinceNs) {
      super(sinceNs);
      this.work = work;
    }

    @Override
    public void run() {
      for (Job job = this; job != null; job = end(job)) {
        TaskThreads.runSafely(job.work);
      }
    }
  }
}
