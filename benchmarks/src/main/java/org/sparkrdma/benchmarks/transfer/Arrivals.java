// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;

/**
 * Hands the answers to requests from the client's threads to one task's thread. Has a count of each
 * buffer until the task takes it; {@link #close} releases the others, and nothing is kept later.
 *
 * <p>The benchmarks measure the client, so a block costs little here: no object, and the task's
 * thread takes all blocks that wait with one lock and reads no clock for them.
 */
final class Arrivals implements BlockFetchingListener, AutoCloseable {
  private static final long TIMEOUT_SECONDS = 120;

  /** The name of each block, followed by its buffer or its failure. Synchronized on this. */
  private Queue<Object> waiting = new ArrayDeque<>();

  /** The same of the blocks that were taken together. Confined to the task's thread. */
  private Queue<Object> taken = new ArrayDeque<>();

  /** Synchronized on this. */
  private boolean closed;

  /** Confined to the task's thread. */
  private String blockId;

  @Override
  public synchronized void onBlockFetchSuccess(String id, ManagedBuffer buffer) {
    if (!closed) {
      add(id, buffer.retain());
    }
  }

  @Override
  public synchronized void onBlockFetchFailure(String id, Throwable failure) {
    add(id, failure);
  }

  private void add(String id, Object answer) {
    boolean first = waiting.isEmpty();
    waiting.add(id);
    waiting.add(answer);
    if (first) {
      notifyAll();
    }
  }

  /**
   * Waits for the next block, 120 seconds at most.
   *
   * @return its buffer, which the task releases
   * @throws IOException when it failed, or none arrived
   */
  public ManagedBuffer next() throws IOException, InterruptedException {
    if (taken.isEmpty()) {
      takeAll();
    }
    blockId = (String) taken.remove();
    Object answer = taken.remove();
    if (answer instanceof Throwable failure) {
      throw new IOException("block " + blockId + " failed", failure);
    }
    return (ManagedBuffer) answer;
  }

  private synchronized void takeAll() throws IOException, InterruptedException {
    if (waiting.isEmpty()) {
      awaitOne();
    }
    Queue<Object> empty = taken;
    taken = waiting;
    waiting = empty;
  }

  private synchronized void awaitOne() throws IOException, InterruptedException {
    long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
    while (waiting.isEmpty()) {
      long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
      if (leftMs <= 0) {
        throw new IOException("no block was received for " + TIMEOUT_SECONDS + " s");
      }
      wait(leftMs);
    }
  }

  /** Name of the block that {@link #next} has returned last; the task's thread. */
  public String blockId() {
    return blockId;
  }

  /** Releases the blocks that {@link #next} has not returned; the task's thread. */
  @Override
  public synchronized void close() {
    closed = true;
    releaseAll(taken);
    releaseAll(waiting);
  }

  private static void releaseAll(Queue<Object> answers) {
    for (Object answer : answers) {
      if (answer instanceof ManagedBuffer buffer) {
        buffer.release();
      }
    }
    answers.clear();
  }
}
