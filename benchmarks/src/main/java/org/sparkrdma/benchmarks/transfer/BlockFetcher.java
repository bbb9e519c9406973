// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;

/**
 * Fetches blocks and reads every byte of them, like Spark's fetcher: it keeps as many requests in
 * flight as the limit allows, and queues the blocks for the task's thread, which reads them and
 * sends more requests. Created for one round, confined to one task's thread.
 */
final class BlockFetcher {
  private static final long TIMEOUT_SECONDS = 120;

  private final BlockStoreClient client;
  private final Peer server;
  private final int blockBytes;
  private final BlockSum sum;
  private final byte[] chunk = new byte[BlockSum.CHUNK_BYTES];
  private final BlockingQueue<Arrival> arrivals = new LinkedBlockingQueue<>();

  private List<String[]> requests = List.of();
  private int nextRequest;
  private long bytesInFlight;

  /**
   * @param blockBytes length of each block
   * @param sum sum over the bytes read
   */
  BlockFetcher(BlockStoreClient client, Peer server, int blockBytes, BlockSum sum) {
    this.client = client;
    this.server = server;
    this.blockBytes = blockBytes;
    this.sum = sum;
  }

  /** One block's answer; without a buffer it is a failure. */
  private record Arrival(String blockId, ManagedBuffer buffer, Throwable failure) {}

  /**
   * Returns when all blocks are read and released.
   *
   * @throws IOException if a block failed, timed out or has another length
   */
  void fetch(List<String[]> plan) throws IOException, InterruptedException {
    requests = plan;
    int blocksLeft = plan.stream().mapToInt(request -> request.length).sum();
    sendRequests();
    while (blocksLeft > 0) {
      consume(next());
      blocksLeft--;
    }
  }

  private void sendRequests() {
    while (nextRequest < requests.size()) {
      String[] request = requests.get(nextRequest);
      long requestBytes = (long) request.length * blockBytes;
      if (bytesInFlight != 0 && bytesInFlight + requestBytes > FetchPlan.MAX_BYTES_IN_FLIGHT) {
        return;
      }
      nextRequest++;
      bytesInFlight += requestBytes;
      client.fetchBlocks(
          server.host(), server.port(), server.executorId(), request, new Queueing(), null);
    }
  }

  private Arrival next() throws IOException, InterruptedException {
    Arrival arrival = arrivals.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    if (arrival == null) {
      throw new IOException("no block was received for " + TIMEOUT_SECONDS + " s");
    }
    if (arrival.buffer() == null) {
      throw new IOException("block " + arrival.blockId() + " did not come", arrival.failure());
    }
    return arrival;
  }

  private void consume(Arrival arrival) throws IOException {
    bytesInFlight -= blockBytes;
    try (InputStream in = arrival.buffer().createInputStream()) {
      sendRequests();
      long lengthBytes = 0;
      int count = in.readNBytes(chunk, 0, chunk.length);
      while (count > 0) {
        sum.add(chunk, count);
        lengthBytes += count;
        count = in.readNBytes(chunk, 0, chunk.length);
      }
      if (lengthBytes != blockBytes) {
        throw new IOException(
            "block %s has %d bytes, not %d".formatted(arrival.blockId(), lengthBytes, blockBytes));
      }
      sum.endBlock(arrival.blockId());
    } finally {
      arrival.buffer().release();
    }
  }

  /** Called by the client's threads; the task's thread has its own count of each buffer. */
  private final class Queueing implements BlockFetchingListener {
    @Override
    public void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
      buffer.retain();
      arrivals.add(new Arrival(blockId, buffer, null));
    }

    @Override
    public void onBlockFetchFailure(String blockId, Throwable failure) {
      arrivals.add(new Arrival(blockId, null, failure));
    }
  }
}
