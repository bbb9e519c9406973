// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.thread.TaskThreads;

/**
 * Requests to one address, issued in order. Safe for any thread. Uses a thread only while it has
 * requests, and its caller's thread when the threads are closed. A request is added and the queue
 * started without an allocation.
 *
 * <p>A request that ends in an Error is issued again after a pause, in which the queue holds no
 * thread: other addresses may be healthy. Spark takes every failure for one of the executor that
 * serves the blocks, which is healthy: in Spark's own fetch the Error would end the task, or this
 * executor. The pauses are counted from one request to the next until one succeeds. So a queue
 * whose requests all fail ends in bounded time: the later ones in its queue have one attempt each.
 */
final class TcpRequestQueue extends TaskThreads.Task {
  private static final Logger LOG = LoggerFactory.getLogger(TcpRequestQueue.class);

  /** Maximum number of pauses without a request that succeeds; 3.1 s in all. */
  static final int MAX_PAUSES = 5;

  /** Each pause is twice as long as the one before. */
  static final long FIRST_PAUSE_MS = 100;

  /** Runs a queue again after a time. */
  @FunctionalInterface
  interface Pause {
    /**
     * Allocates nothing.
     *
     * @return false when the executor stops, or no thread lives: nothing is to be repeated
     */
    boolean tryStart(TcpRequestQueue queue, long ms);
  }

  private final Executor threads;
  private final Consumer<TcpRequest> issue;
  private final Pause pause;
  private final Runnable idle;

  private TcpRequest first;
  private TcpRequest last;
  private boolean running;
  private boolean ended;

  /**
   * Since the last request that succeeded, or the queue was empty; used by the thread that runs.
   */
  private int pauses;

  /** To be issued again by the next thread that runs; null if there is none. */
  private TcpRequest repeated;

  /**
   * @param issue called with one request at a time; when it throws, the request is unanswered
   * @param pause before a request is issued again
   * @param idle called when the queue has become empty
   */
  TcpRequestQueue(Executor threads, Consumer<TcpRequest> issue, Pause pause, Runnable idle) {
    this.threads = threads;
    this.issue = issue;
    this.pause = pause;
    this.idle = idle;
  }

  /**
   * Queues a request; it is issued once {@link #start} is called.
   *
   * @return false when the queue has ended
   */
  synchronized boolean add(TcpRequest request) {
    if (ended) {
      return false;
    }
    if (first == null) {
      first = request;
    } else {
      last.next = request;
    }
    last = request;
    return true;
  }

  /** Issues all queued requests in order. Never throws. */
  void start() {
    synchronized (this) {
      if (running || first == null) {
        return;
      }
      running = true;
    }
    try {
      threads.execute(this);
    } catch (Throwable e) {
      // The threads are closed: each request needs an answer.
      run();
    }
  }

  /** Ends an idle queue, which takes no more requests; false when it has some. */
  synchronized boolean endIfIdle() {
    ended |= isIdle();
    return ended;
  }

  synchronized boolean isIdle() {
    return !running && first == null;
  }

  @Override
  public void run() {
    TcpRequest next = repeated == null ? next() : repeated;
    repeated = null;
    while (next != null) {
      if (!tryIssue(next)) {
        // Another thread may run this queue already.
        return;
      }
      next = next();
    }
    try {
      idle.run();
    } catch (Throwable e) {
      // Its next request ends it.
      log("Cannot end an idle queue", e);
    }
  }

  /**
   * Issues a request or fails it; false when a pause has started, after which the queue goes on.
   */
  private boolean tryIssue(TcpRequest request) {
    try {
      issue.accept(request);
      pauses = 0;
    } catch (Throwable e) {
      if (e instanceof Error && pauses < MAX_PAUSES) {
        if (pauses == 0) {
          log("Issuing a request by TCP again after an Error in this executor", e);
        }
        pauses++;
        if (tryPause(request)) {
          return false;
        }
      }
      request.fail(e);
    }
    return true;
  }

  /** Issues a request again after a pause; false when there is none. */
  private boolean tryPause(TcpRequest request) {
    repeated = request;
    try {
      if (pause.tryStart(this, FIRST_PAUSE_MS << (pauses - 1))) {
        return true;
      }
    } catch (Throwable e) {
      // The request fails with its own Error.
    }
    repeated = null;
    return false;
  }

  private static void log(String event, Throwable e) {
    try {
      LOG.warn(event, e);
    } catch (Throwable noMemory) {
      // The next request is issued all the same.
    }
  }

  private synchronized TcpRequest next() {
    TcpRequest next = first;
    running = next != null;
    if (running) {
      first = next.next;
      last = first == null ? null : last;
      next.next = null;
    } else {
      pauses = 0;
    }
    return next;
  }
}
