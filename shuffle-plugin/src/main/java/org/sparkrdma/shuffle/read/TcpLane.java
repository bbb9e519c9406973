// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.thread.TaskThreads;

/**
 * Requests to one address, issued in order. Safe for any thread. Uses a thread only while it has
 * requests, and its caller's thread when the threads are closed. An Error of one request does not
 * keep the others from being issued: a lane that was left as running would never issue again.
 */
final class TcpLane extends TaskThreads.Task {
  private static final Logger LOG = LoggerFactory.getLogger(TcpLane.class);

  private final Executor threads;
  private final Consumer<TcpRequest> issue;
  private final Runnable idle;
  private final ArrayDeque<TcpRequest> queue = new ArrayDeque<>();
  private boolean running;

  /**
   * @param issue called with one request at a time; answers its blocks also when it throws
   * @param idle called when the queue has become empty
   */
  TcpLane(Executor threads, Consumer<TcpRequest> issue, Runnable idle) {
    this.threads = threads;
    this.issue = issue;
    this.idle = idle;
  }

  /** Queues a request; it is issued once {@link #start} is called. */
  synchronized void add(TcpRequest request) {
    queue.add(request);
  }

  /** Issues all queued requests in order. */
  void start() {
    synchronized (this) {
      if (running || queue.isEmpty()) {
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

  synchronized boolean isIdle() {
    return !running && queue.isEmpty();
  }

  @Override
  public void run() {
    for (TcpRequest next = next(); next != null; next = next()) {
      try {
        issue.accept(next);
      } catch (Throwable e) {
        log("Unexpected failure of a request by TCP; continuing with the next", e);
      }
    }
    try {
      idle.run();
    } catch (Throwable e) {
      // Its next request ends it.
      log("Cannot end an idle lane", e);
    }
  }

  private static void log(String event, Throwable e) {
    try {
      LOG.warn(event, e);
    } catch (Throwable noMemory) {
      // The next request is issued all the same.
    }
  }

  private synchronized TcpRequest next() {
    TcpRequest next = queue.poll();
    running = next != null;
    return next;
  }
}
