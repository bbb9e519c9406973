// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.io.InputStream;
import java.util.Iterator;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockStoreClient;

/**
 * Fetches blocks like Spark's fetcher: it keeps as many requests in flight as the limit allows, and
 * queues the blocks for the task's thread, which reads them and sends more requests. Created for
 * one {@link #fetch}, confined to one task's thread.
 */
final class BlockFetcher {
  private final BlockStoreClient client;
  private final Peers.Address server;
  private final int blockBytes;
  private final BlockReader reader;
  private final Arrivals arrivals = new Arrivals();

  private Iterator<String[]> requests;

  /** The next request; null at the end. */
  private String[] nextRequest;

  private long bytesInFlight;
  private long blocksInFlight;

  /**
   * @param blockBytes length of each block
   * @param reader reads each block
   */
  BlockFetcher(BlockStoreClient client, Peers.Address server, int blockBytes, BlockReader reader) {
    this.client = client;
    this.server = server;
    this.blockBytes = blockBytes;
    this.reader = reader;
  }

  /** Reads one block on the task's thread. */
  interface BlockReader {
    /** Reads a block; the stream is closed afterwards. */
    void read(String blockId, InputStream in) throws IOException;
  }

  /**
   * Fetches the blocks of requests that the iterator makes when they are due.
   *
   * @return number of blocks, all of which are read and released
   * @throws IOException if a block failed, timed out or has another length
   */
  long fetch(Iterator<String[]> plan) throws IOException, InterruptedException {
    requests = plan;
    nextRequest = following();
    try (arrivals) {
      sendRequests();
      long blocks = 0;
      while (blocksInFlight > 0) {
        consume(arrivals.next(), arrivals.blockId());
        blocks++;
      }
      return blocks;
    }
  }

  private String[] following() {
    return requests.hasNext() ? requests.next() : null;
  }

  private void sendRequests() {
    while (nextRequest != null) {
      String[] request = nextRequest;
      long requestBytes = (long) request.length * blockBytes;
      if (bytesInFlight != 0 && bytesInFlight + requestBytes > FetchPlan.MAX_BYTES_IN_FLIGHT) {
        return;
      }
      nextRequest = following();
      bytesInFlight += requestBytes;
      blocksInFlight += request.length;
      client.fetchBlocks(
          server.host(), server.port(), server.executorId(), request, arrivals, null);
    }
  }

  private void consume(ManagedBuffer buffer, String blockId) throws IOException {
    bytesInFlight -= blockBytes;
    blocksInFlight--;
    try (InputStream in = buffer.createInputStream()) {
      sendRequests();
      reader.read(blockId, in);
    } finally {
      buffer.release();
    }
  }
}
