// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.sparkrdma.shuffle.directory.DirectoryGrowth;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.fetch.SuspectBlock;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.verbs.VerbsException;

/**
 * One simulated shuffle: executor 0 reads from all others, and all others read from it. So its cost
 * is that of an executor of a full shuffle; of the others only what concerns executor 0 happens.
 * For one thread.
 */
final class GrowthRun implements AutoCloseable {
  /** Spark's defaults: 48 MiB for each task, and a fifth of that for each request. */
  private static final long TASK_BYTES = 48L << 20;

  private static final long REQUEST_BYTES = TASK_BYTES / 5;
  private static final long LIMIT_NS = Duration.ofMinutes(2).toNanos();

  /**
   * Shape of a shuffle.
   *
   * @param maps map outputs of all executors together
   * @param tasks of executor 0, which read at once; each of the others has one
   * @param pinnedBytes {@code pinned.max}
   * @param connections {@code connections.max}
   */
  record Shape(
      int executors, int maps, int tasks, int blockBytes, long pinnedBytes, int connections) {
    /** Uses the default of {@code connections.max}. */
    Shape(int executors, int maps, int tasks, int blockBytes, long pinnedBytes) {
      this(executors, maps, tasks, blockBytes, pinnedBytes, 1_024);
    }

    int mapsPerExecutor() {
      return Math.max(1, maps / executors);
    }
  }

  /**
   * Resources that executor 0 used, and times.
   *
   * @param controlBytes of messages, at the end of the run
   * @param messages that it sent to its peers
   * @param work steps of its agent and its block server
   * @param driverMessages that one executor sends to the driver until it knows all others
   * @param driverRecords endpoints in the answers to these
   * @param firstBlockMs virtual time until it had its first block
   * @param lastPeerMs virtual time until it had a block of every peer
   * @param blocks that executor 0 read
   * @param fallbacks its blocks that would use TCP, by reason
   * @param fallbacksOfOthers blocks of executor 0 that the others would read by TCP, by reason
   */
  record Result(
      Shape shape,
      int connections,
      long controlBytes,
      long highestPinnedBytes,
      long messages,
      long work,
      long driverMessages,
      long driverRecords,
      long blocks,
      double firstBlockMs,
      double lastPeerMs,
      double allBlocksMs,
      long maxReadBytesInFlight,
      Map<FallbackReason, Long> fallbacks,
      Map<FallbackReason, Long> fallbacksOfOthers) {
    /** Blocks that executor 0 wanted. */
    long wanted() {
      return blocks + fallbacks.values().stream().mapToLong(Long::longValue).sum();
    }
  }

  private final VirtualFabric fabric = new VirtualFabric();
  private final List<VirtualExecutor> executors = new ArrayList<>();
  private final Shape shape;
  private final Set<Integer> seenPeers = new HashSet<>();
  private final Map<FallbackReason, Long> fallbacks = new TreeMap<>();
  private final Map<FallbackReason, Long> fallbacksOfOthers = new TreeMap<>();
  private long blocks;
  private long open;
  private long firstBlockNs;
  private long lastPeerNs;

  /**
   * @param directory for a sparse file that stands for all map outputs
   */
  GrowthRun(Path directory, Shape shape) throws IOException, VerbsException {
    this.shape = shape;
    Path file = directory.resolve("outputs.data");
    int partitions = Math.max(shape.executors(), shape.tasks()) + 1;
    try (RandomAccessFile outputs = new RandomAccessFile(file.toFile(), "rw")) {
      outputs.setLength((long) partitions * shape.blockBytes());
    }
    for (int i = 0; i < shape.executors(); i++) {
      executors.add(
          new VirtualExecutor(
              fabric,
              i,
              shape.pinnedBytes(),
              shape.connections(),
              file,
              partitions,
              shape.blockBytes()));
    }
  }

  Result run() {
    VirtualExecutor first = executors.get(0);
    for (int task = 0; task < shape.tasks(); task++) {
      new Task(first, task, 1, executors.size()).request();
    }
    for (int i = 1; i < executors.size(); i++) {
      new Task(executors.get(i), i, 0, 1).request();
    }
    if (!fabric.runUntil(() -> open == 0, LIMIT_NS)) {
      throw new IllegalStateException(
          "%d blocks open after %d ms: %s".formatted(open, fabric.nowNs() / 1_000_000, shape));
    }
    DirectoryGrowth.Messages driver = DirectoryGrowth.of(shape.executors());
    return new Result(
        shape,
        first.maxConnections(),
        first.controlBytes(),
        first.highestPinnedBytes(),
        first.messages(),
        first.work(),
        driver.messages(),
        driver.records(),
        blocks,
        firstBlockNs / 1e6,
        lastPeerNs / 1e6,
        fabric.nowNs() / 1e6,
        first.maxBytesInFlight(),
        fallbacks,
        fallbacksOfOthers);
  }

  @Override
  public void close() {
    executors.forEach(VirtualExecutor::close);
  }

  /** A reduce task: requests blocks as Spark's ShuffleBlockFetcherIterator does. */
  private final class Task {
    private final VirtualExecutor reader;
    private final int partition;
    private final ArrayDeque<Request> waiting = new ArrayDeque<>();
    private long bytesInFlight;

    private record Request(int peer, List<BlockRange> blocks) {}

    Task(VirtualExecutor reader, int partition, int firstPeer, int endPeer) {
      this.reader = reader;
      this.partition = partition;
      int peers = endPeer - firstPeer;
      for (int i = 0; i < peers; i++) {
        // Spark shuffles the requests, so that not all tasks begin with the same peer.
        int peer = firstPeer + (i + partition * 37) % peers;
        addRequests(peer);
      }
    }

    private void addRequests(int peer) {
      List<BlockRange> request = new ArrayList<>();
      for (int map = 0; map < shape.mapsPerExecutor(); map++) {
        request.add(new BlockRange(0, map, partition, partition + 1));
        if ((request.size() + 1L) * shape.blockBytes() > REQUEST_BYTES) {
          waiting.add(new Request(peer, request));
          request = new ArrayList<>();
        }
      }
      if (!request.isEmpty()) {
        waiting.add(new Request(peer, request));
      }
      open += shape.mapsPerExecutor();
    }

    void request() {
      while (!waiting.isEmpty()
          && (bytesInFlight == 0 || bytesInFlight + bytes(waiting.peek()) <= TASK_BYTES)) {
        Request next = waiting.poll();
        bytesInFlight += bytes(next);
        Endpoint peer = executors.get(next.peer()).endpoint();
        reader.fetch(peer, next.blocks(), new Handler(next.peer()));
      }
    }

    private long bytes(Request request) {
      return (long) request.blocks().size() * shape.blockBytes();
    }

    private void onAnswer() {
      open--;
      bytesInFlight -= shape.blockBytes();
      request();
    }

    private final class Handler implements FetchHandler {
      private final int peer;

      Handler(int peer) {
        this.peer = peer;
      }

      @Override
      public long reader() {
        return partition;
      }

      @Override
      public void onFetched(int index, ManagedBuffer buffer) {
        if (reader == executors.get(0)) {
          blocks++;
          firstBlockNs = firstBlockNs == 0 ? fabric.nowNs() : firstBlockNs;
          if (seenPeers.add(peer)) {
            lastPeerNs = fabric.nowNs();
          }
        }
        onAnswer();
      }

      @Override
      public void onFailed(int index, FallbackReason reason, String detail) {
        Map<FallbackReason, Long> counts =
            reader == executors.get(0) ? fallbacks : fallbacksOfOthers;
        counts.merge(reason, 1L, Long::sum);
        onAnswer();
      }

      @Override
      public void onSuspect(int index, SuspectBlock suspect) {
        throw new IllegalStateException("no checksums here");
      }
    }
  }
}
