// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import java.io.IOException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.engine.UninterruptedJoin;

/**
 * A thread that waits for events of the kernel, in turns of {@value #TURN_MS} ms because DiSNI's
 * waits cannot be interrupted. Construct, start, close; close waits for the end of the turn.
 */
final class Watcher implements AutoCloseable {
  /** Maximum wait of a turn. */
  static final int TURN_MS = 50;

  private static final Logger LOG = LoggerFactory.getLogger(Watcher.class);

  private final Turn turn;
  private final Runnable onFailure;
  private final Thread thread;

  /** Held during a turn. Fair, so that a task between two turns does not wait for several. */
  private final ReentrantLock turns = new ReentrantLock(true);

  private volatile boolean closing;

  /** Waits once, at most {@link Watcher#TURN_MS}, and handles the events that arrived. */
  @FunctionalInterface
  interface Turn {
    void run() throws IOException;
  }

  /**
   * @param threads creates its thread
   * @param onFailure called once when the thread ends because a turn failed
   */
  Watcher(ThreadFactory threads, String name, Turn turn, Runnable onFailure) {
    this.turn = turn;
    this.onFailure = onFailure;
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
        turns.lock();
        try {
          turn.run();
        } finally {
          turns.unlock();
        }
      }
    } catch (IOException | RuntimeException e) {
      LOG.error("{} has ended: its device cannot be used any more", thread.getName(), e);
      onFailure.run();
    }
  }

  /** Runs the task between two turns, on the caller's thread. */
  void runBetweenTurns(Runnable task) {
    turns.lock();
    try {
      task.run();
    } finally {
      turns.unlock();
    }
  }

  @Override
  public void close() {
    closing = true;
    UninterruptedJoin.await(thread);
  }
}
