// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.latency;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.sparkrdma.benchmarks.transfer.BlockFetcher;
import org.sparkrdma.benchmarks.transfer.ExecutorAddress;

/** Makes one request after the other. Confined to one task's thread. */
final class TimedFetches {
  private static final long TIMEOUT_SECONDS = 120;

  private final BlockStoreClient client;
  private final ExecutorAddress server;
  private final BlockFetcher.BlockReader reader;
  private final LongSupplier nowNs;

  /** Answers of the open request. */
  private final BlockingQueue<Arrival> arrivals = new LinkedBlockingQueue<>();

  /**
   * @param reader reads each block after the time is taken
   */
  TimedFetches(
      BlockStoreClient client,
      ExecutorAddress server,
      BlockFetcher.BlockReader reader,
      LongSupplier nowNs) {
    this.client = client;
    this.server = server;
    this.reader = reader;
    this.nowNs = nowNs;
  }

  /** The answer for one block; without a buffer it is a failure. */
  private record Arrival(String blockId, ManagedBuffer buffer, Throwable failure) {}

  /**
   * Returns the time from the request until this thread has all its blocks, in nanoseconds.
   *
   * @throws IOException if a block failed, timed out or has another length
   */
  long fetch(String[] request) throws IOException, InterruptedException {
    List<Arrival> all = new ArrayList<>(request.length);
    try {
      long startNs = nowNs.getAsLong();
      client.fetchBlocks(
          server.host(), server.port(), server.executorId(), request, new Queueing(), null);
      while (all.size() < request.length) {
        all.add(next());
      }
      long ns = nowNs.getAsLong() - startNs;
      for (Arrival arrival : all) {
        try (InputStream in = arrival.buffer().createInputStream()) {
          reader.read(arrival.blockId(), in);
        }
      }
      return ns;
    } finally {
      all.forEach(arrival -> arrival.buffer().release());
    }
  }

  private Arrival next() throws IOException, InterruptedException {
    Arrival arrival = arrivals.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    if (arrival == null) {
      throw new IOException("no block was received for " + TIMEOUT_SECONDS + " s");
    }
    if (arrival.buffer() == null) {
      throw new IOException("block " + arrival.blockId() + " failed", arrival.failure());
    }
    return arrival;
  }

  /** Called by the client's threads; the task's thread has its own count of each buffer. */
  private final class Queueing implements BlockFetchingListener {
    @Override
    public void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
      arrivals.add(new Arrival(blockId, buffer.retain(), null));
    }

    @Override
    public void onBlockFetchFailure(String blockId, Throwable failure) {
      arrivals.add(new Arrival(blockId, null, failure));
    }
  }
}
