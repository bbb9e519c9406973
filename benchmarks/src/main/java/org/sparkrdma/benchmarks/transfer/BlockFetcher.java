// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.storage.BlockManagerId;
import org.sparkrdma.benchmarks.transfer.TransferPlan.Layout;

/**
 * Fetches blocks like Spark's fetcher: it keeps as many requests in flight as the limit allows, and
 * queues the blocks for the task's thread, which reads them and sends more requests; or one request
 * after the other. Confined to one task's thread; {@link #close} releases the blocks that were not
 * read.
 */
final class BlockFetcher implements AutoCloseable {
  /** Spark's default of {@code spark.reducer.maxSizeInFlight}. */
  static final long MAX_BYTES_IN_FLIGHT = 48L << 20;

  private static final int REQUESTS_IN_FLIGHT = 5;

  private final BlockStoreClient client;
  private final BlockManagerId server;
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
  BlockFetcher(BlockStoreClient client, BlockManagerId server, int blockBytes, BlockReader reader) {
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
   * The requests for all blocks of a round, like those of Spark's fetcher: one reducer after the
   * other, each with its block of every map output. A request has a fifth of the bytes that may be
   * in flight.
   */
  static List<String[]> requests(Layout layout, int shuffleId) {
    long targetBytes = MAX_BYTES_IN_FLIGHT / REQUESTS_IN_FLIGHT;
    int perRequest = Math.toIntExact((targetBytes + layout.blockBytes() - 1) / layout.blockBytes());
    List<String> all = singleRequests(layout, shuffleId).stream().flatMap(Stream::of).toList();
    List<String[]> requests = new ArrayList<>();
    for (int from = 0; from < all.size(); from += perRequest) {
      int to = Math.min(from + perRequest, all.size());
      requests.add(all.subList(from, to).toArray(String[]::new));
    }
    return requests;
  }

  /** Requests for each reducer, each with its blocks of as many map outputs as it names. */
  static List<String[]> singleRequests(Layout layout, int shuffleId) {
    List<String[]> requests = new ArrayList<>();
    for (int reducer = 0; reducer < layout.reducers(); reducer++) {
      int of = reducer;
      for (int from = 0; from < layout.maps(); from += layout.batch()) {
        requests.add(
            IntStream.range(from, from + layout.batch())
                .mapToObj(map -> Layout.blockId(shuffleId, map, of))
                .toArray(String[]::new));
      }
    }
    return requests;
  }

  /**
   * Fetches the blocks of requests that the iterator makes when they are due. Called once.
   *
   * @return number of blocks, all of which are read and released
   * @throws IOException if a block failed, timed out or has another length
   */
  long fetch(Iterator<String[]> plan) throws IOException, InterruptedException {
    requests = plan;
    nextRequest = following();
    sendRequests();
    long blocks = 0;
    while (blocksInFlight > 0) {
      consume(arrivals.next(), arrivals.blockId());
      blocks++;
    }
    return blocks;
  }

  private String[] following() {
    return requests.hasNext() ? requests.next() : null;
  }

  private void sendRequests() {
    while (nextRequest != null) {
      String[] request = nextRequest;
      long requestBytes = (long) request.length * blockBytes;
      if (bytesInFlight != 0 && bytesInFlight + requestBytes > MAX_BYTES_IN_FLIGHT) {
        return;
      }
      nextRequest = following();
      bytesInFlight += requestBytes;
      blocksInFlight += request.length;
      send(request);
    }
  }

  private void send(String[] request) {
    client.fetchBlocks(server.host(), server.port(), server.executorId(), request, arrivals, null);
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

  /**
   * Makes one request and reads its blocks. Returns the time from the request until this thread has
   * all of them, in nanoseconds.
   *
   * @throws IOException if a block failed, timed out or has another length
   */
  long fetchTimed(String[] request) throws IOException, InterruptedException {
    ManagedBuffer[] buffers = new ManagedBuffer[request.length];
    String[] blockIds = new String[request.length];
    int taken = 0;
    try {
      long startNs = System.nanoTime();
      send(request);
      while (taken < request.length) {
        buffers[taken] = arrivals.next();
        blockIds[taken++] = arrivals.blockId();
      }
      long ns = System.nanoTime() - startNs;
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

  /**
   * Hands the answers to requests from the client's threads to one task's thread. Has a count of
   * each buffer until the task takes it; {@link #close} releases the others, and nothing is kept
   * later.
   *
   * <p>The benchmarks measure the client, so a block costs little here: no object, and the task's
   * thread takes all blocks that wait with one lock and reads no clock for them.
   */
  private static final class Arrivals implements BlockFetchingListener {
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
    ManagedBuffer next() throws IOException, InterruptedException {
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
    String blockId() {
      return blockId;
    }

    /** Releases the blocks that {@link #next} has not returned; the task's thread. */
    synchronized void close() {
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
}
