// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.broadcast;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;

/**
 * The answers to the requests for pieces of one chunk, handed from the threads that receive them to
 * the one that takes them. After the close late pieces are released at once. Safe for any thread.
 */
final class PieceArrivals {
  /**
   * One piece, or its failure.
   *
   * @param bytes to be released by the taker; null after a failure
   * @param byRead whether it was requested by READ
   */
  record Arrival(int piece, ManagedBuffer bytes, boolean byRead) {}

  private final LinkedBlockingQueue<Arrival> arrived = new LinkedBlockingQueue<>();
  private boolean closed;

  /** A listener for the request for one piece. */
  BlockFetchingListener listener(int piece, boolean byRead) {
    return new BlockFetchingListener() {
      @Override
      public void onBlockFetchSuccess(String name, ManagedBuffer bytes) {
        // The caller releases its own reference when this returns.
        add(new Arrival(piece, bytes.retain(), byRead));
      }

      @Override
      public void onBlockFetchFailure(String name, Throwable failure) {
        add(new Arrival(piece, null, byRead));
      }
    };
  }

  /** A piece could not be READ. */
  void failRead(int piece) {
    add(new Arrival(piece, null, true));
  }

  private synchronized void add(Arrival arrival) {
    if (closed) {
      release(arrival);
    } else {
      arrived.add(arrival);
    }
  }

  /** The next answer; null when none comes in time. */
  Arrival poll(long waitMs) throws InterruptedException {
    return arrived.poll(waitMs, TimeUnit.MILLISECONDS);
  }

  /** Releases what was not taken, and what comes later. */
  synchronized void close() {
    closed = true;
    arrived.forEach(PieceArrivals::release);
    arrived.clear();
  }

  private static void release(Arrival arrival) {
    if (arrival.bytes() != null) {
      arrival.bytes().release();
    }
  }
}
