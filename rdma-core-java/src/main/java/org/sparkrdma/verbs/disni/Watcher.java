// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that waits for events of the kernel, in turns of {@value #TURN_MS} ms because DiSNI's
 * waits cannot be interrupted. Construct, start, close; close waits for the end of the turn.
 */
final class Watcher implements AutoCloseable {
  /** Maximum wait of a turn. */
  static final int TURN_MS = 50;

  private static final Logger LOG = LoggerFactory.getLogger(Watcher.class);

  private final Turn turn;
  private final Thread thread;
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private volatile boolean closing;
  private boolean takesTasks = true;

  /** Waits once, at most {@link Watcher#TURN_MS}, and handles the events that arrived. */
  @FunctionalInterface
  interface Turn {
    void run() throws IOException;
  }

  Watcher(String name, ThreadFactory threads, Turn turn) {
    this.turn = turn;
    thread = threads.newThread(this::run);
    thread.setName(name);
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  private void run() {
    try {
      while (!closing) {
        turn.run();
        runTasks();
      }
    } catch (IOException | RuntimeException e) {
      LOG.error("{} has ended: its device cannot be used any more", thread.getName(), e);
    } finally {
      synchronized (this) {
        takesTasks = false;
      }
      try {
        runTasks();
      } finally {
        ended.complete(null);
      }
    }
  }

  private void runTasks() {
    for (Runnable task = next(); task != null; task = next()) {
      task.run();
    }
  }

  private synchronized Runnable next() {
    return tasks.poll();
  }

  /**
   * Runs the task between two turns and returns when it has run; throws what the task throws. Any
   * thread.
   */
  void runBetweenTurns(Runnable task) {
    var done = new CompletableFuture<Void>();
    if (Thread.currentThread() == thread || !offer(() -> run(task, done))) {
      task.run();
    } else {
      await(done);
    }
  }

  private static void run(Runnable task, CompletableFuture<Void> done) {
    try {
      task.run();
      done.complete(null);
    } catch (RuntimeException | Error e) {
      done.completeExceptionally(e);
    }
  }

  private static void await(CompletableFuture<Void> done) {
    try {
      done.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw (RuntimeException) e.getCause();
    }
  }

  private synchronized boolean offer(Runnable task) {
    return takesTasks && tasks.add(task);
  }

  /** Waits for no turn when the thread could not be started. */
  @Override
  public void close() {
    closing = true;
    if (Thread.currentThread() != thread && thread.getState() != Thread.State.NEW) {
      ended.join();
    }
  }
}
