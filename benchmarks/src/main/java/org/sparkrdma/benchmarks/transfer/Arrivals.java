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
 * <p>Allocates no object for a block: the benchmarks measure what the client allocates.
 */
public final class Arrivals implements BlockFetchingListener, AutoCloseable {
  private static final long TIMEOUT_SECONDS = 120;

  /** The name of each block, followed by its buffer or its failure. Synchronized on this. */
  private final Queue<Object> waiting = new ArrayDeque<>();

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
    waiting.add(id);
    waiting.add(answer);
    notifyAll();
  }

  /**
   * Waits for the next block, 120 seconds at most.
   *
   * @return its buffer, which the task releases
   * @throws IOException when it failed, or none arrived
   */
  public synchronized ManagedBuffer next() throws IOException, InterruptedException {
    long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
    while (waiting.isEmpty()) {
      long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
      if (leftMs <= 0) {
        throw new IOException("no block was received for " + TIMEOUT_SECONDS + " s");
      }
      wait(leftMs);
    }
    blockId = (String) waiting.remove();
    Object answer = waiting.remove();
    if (answer instanceof Throwable failure) {
      throw new IOException("block " + blockId + " failed", failure);
    }
    return (ManagedBuffer) answer;
  }

  /** Name of the block that {@link #next} has returned last; the task's thread. */
  public String blockId() {
    return blockId;
  }

  /** Releases the blocks that were not taken. */
  @Override
  public synchronized void close() {
    closed = true;
    for (Object answer : waiting) {
      if (answer instanceof ManagedBuffer buffer) {
        buffer.release();
      }
    }
    waiting.clear();
  }
}
