// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.io.InputStream;
import java.util.function.LongSupplier;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockStoreClient;

/**
 * Makes one request after the other. Confined to one task's thread; {@link #close} releases the
 * blocks of a request that failed.
 */
final class TimedFetches implements AutoCloseable {
  private final BlockStoreClient client;
  private final Peers.Address server;
  private final BlockFetcher.BlockReader reader;
  private final LongSupplier nowNs;
  private final Arrivals arrivals = new Arrivals();

  /**
   * @param reader reads each block after the time is taken
   */
  TimedFetches(
      BlockStoreClient client,
      Peers.Address server,
      BlockFetcher.BlockReader reader,
      LongSupplier nowNs) {
    this.client = client;
    this.server = server;
    this.reader = reader;
    this.nowNs = nowNs;
  }

  /**
   * Returns the time from the request until this thread has all its blocks, in nanoseconds.
   *
   * @throws IOException if a block failed, timed out or has another length
   */
  long fetch(String[] request) throws IOException, InterruptedException {
    ManagedBuffer[] buffers = new ManagedBuffer[request.length];
    String[] blockIds = new String[request.length];
    int taken = 0;
    try {
      long startNs = nowNs.getAsLong();
      client.fetchBlocks(
          server.host(), server.port(), server.executorId(), request, arrivals, null);
      while (taken < request.length) {
        buffers[taken] = arrivals.next();
        blockIds[taken++] = arrivals.blockId();
      }
      long ns = nowNs.getAsLong() - startNs;
      for (int i = 0; i < taken; i++) {
        try (InputStream in = buffers[i].createInputStream()) {
          reader.read(blockIds[i], in);
        }
      }
      return ns;
    } finally {
      for (int i = 0; i < taken; i++) {
        buffers[i].release();
      }
    }
  }

  @Override
  public void close() {
    arrivals.close();
  }
}
