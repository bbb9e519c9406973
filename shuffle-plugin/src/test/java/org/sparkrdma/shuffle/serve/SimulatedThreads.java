// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;

/**
 * A few threads in virtual time, which run jobs in the order of their arrival. One thread works at
 * a time, that of the simulation included: the others wait until the simulation resumes them.
 */
final class SimulatedThreads implements Executor {
  /** The simulation's queue of events. */
  interface Events {
    /** Runs an event on the thread of the simulation after a virtual time. */
    void after(long ns, Runnable event);
  }

  private final Events events;
  private final Queue<Runnable> waiting = new ArrayDeque<>();
  private final Semaphore simulation = new Semaphore(0);
  private int free;
  private Worker current;
  private Throwable failure;

  SimulatedThreads(int threads, Events events) {
    this.free = threads;
    this.events = events;
  }

  @Override
  public void execute(Runnable job) {
    if (free > 0) {
      free--;
      events.after(0, () -> resume(new Worker(job)));
    } else {
      waiting.add(job);
    }
  }

  /** Whether the caller is one of these threads. */
  boolean isCurrent() {
    return current != null && Thread.currentThread() == current.thread;
  }

  /** The calling thread, one of these, does nothing for a virtual time. */
  void pause(long ns) {
    Worker worker = current;
    events.after(ns, () -> resume(worker));
    simulation.release();
    worker.mayRun.acquireUninterruptibly();
  }

  /** Lets a thread work until it pauses or ends. */
  private void resume(Worker worker) {
    current = worker;
    if (worker.thread.getState() == Thread.State.NEW) {
      worker.thread.start();
    } else {
      worker.mayRun.release();
    }
    simulation.acquireUninterruptibly();
    current = null;
    if (failure != null) {
      throw new AssertionError("a job failed", failure);
    }
  }

  private final class Worker {
    private final Semaphore mayRun = new Semaphore(0);
    private final Thread thread;

    Worker(Runnable first) {
      thread = new Thread(() -> work(first), "simulated");
      thread.setDaemon(true);
    }

    private void work(Runnable first) {
      try {
        for (Runnable job = first; job != null; job = waiting.poll()) {
          job.run();
        }
      } catch (Throwable e) {
        failure = e;
      }
      free++;
      simulation.release();
    }
  }
}
