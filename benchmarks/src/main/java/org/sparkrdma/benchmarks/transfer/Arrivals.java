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
 */
public final class Arrivals implements BlockFetchingListener, AutoCloseable {
  private static final long TIMEOUT_SECONDS = 120;

  // Both are guarded by this.
  private final Queue<Arrival> waiting = new ArrayDeque<>();
  private boolean closed;

  /**
   * The answer for one block.
   *
   * @param buffer null when the block failed; otherwise the task releases it
   * @param failure null when the block did not fail
   */
  public record Arrival(String blockId, ManagedBuffer buffer, Throwable failure) {}

  @Override
  public synchronized void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
    if (!closed) {
      add(new Arrival(blockId, buffer.retain(), null));
    }
  }

  @Override
  public synchronized void onBlockFetchFailure(String blockId, Throwable failure) {
    add(new Arrival(blockId, null, failure));
  }

  private void add(Arrival arrival) {
    waiting.add(arrival);
    notifyAll();
  }

  /**
   * Waits for the next block, 120 seconds at most.
   *
   * @throws IOException when it failed, or none arrived
   */
  public synchronized Arrival next() throws IOException, InterruptedException {
    long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
    while (waiting.isEmpty()) {
      long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
      if (leftMs <= 0) {
        throw new IOException("no block was received for " + TIMEOUT_SECONDS + " s");
      }
      wait(leftMs);
    }
    Arrival arrival = waiting.remove();
    if (arrival.buffer() == null) {
      throw new IOException("block " + arrival.blockId() + " failed", arrival.failure());
    }
    return arrival;
  }

  /** Releases the blocks that were not taken. */
  @Override
  public synchronized void close() {
    closed = true;
    for (Arrival arrival : waiting) {
      if (arrival.buffer() != null) {
        arrival.buffer().release();
      }
    }
    waiting.clear();
  }
}
