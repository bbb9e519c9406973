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
import java.util.function.IntConsumer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.sparkrdma.shuffle.directory.DirectoryGrowth;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.MessageType;
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
   * @param waves of tasks; with more than one, all executors have {@code tasks} at once, and a task
   *     begins when one before it has ended
   */
  record Shape(
      int executors,
      int maps,
      int tasks,
      int blockBytes,
      long pinnedBytes,
      int connections,
      int waves) {
    private static final int CONNECTIONS = 1_024;

    /** One wave. */
    Shape(int executors, int maps, int tasks, int blockBytes, long pinnedBytes, int connections) {
      this(executors, maps, tasks, blockBytes, pinnedBytes, connections, 1);
    }

    /** Uses the default of {@code connections.max}. */
    Shape(int executors, int maps, int tasks, int blockBytes, long pinnedBytes) {
      this(executors, maps, tasks, blockBytes, pinnedBytes, CONNECTIONS);
    }

    /** Every task of a shuffle, in waves. */
    static Shape inWaves(
        int executors, int maps, int tasks, int waves, int blockBytes, long pinned) {
      return new Shape(executors, maps, tasks, blockBytes, pinned, CONNECTIONS, waves);
    }

    /** Partitions of the shuffle. */
    int partitions() {
      return waves == 1 ? Math.max(executors, tasks) + 1 : executors * tasks * waves;
    }

    /** The partition of a task, which Spark starts in this order. */
    private int partition(int executor, int slot, int wave) {
      return (wave * executors + executor) * tasks + slot;
    }

    int mapsPerExecutor() {
      return Math.max(1, maps / executors);
    }
  }

  /**
   * Resources that executor 0 used, and times.
   *
   * @param connections most at the same time
   * @param queuePairs that it created: more than connections when these make room for each other
   * @param controlBytes of messages, at the end of the run
   * @param messages that it sent to its peers
   * @param work steps of its agent and its block server
   * @param driverMessages that one executor sends to the driver until it knows all others
   * @param driverRecords endpoints in the answers to these
   * @param firstBlockMs virtual time until it had its first block
   * @param lastPeerMs virtual time until it had a block of every peer
   * @param blocks that executor 0 read
   * @param served blocks that the others read from executor 0
   * @param fallbacks its blocks that would use TCP, by reason
   * @param fallbacksOfOthers blocks of executor 0 that the others would read by TCP, by reason
   */
  record Result(
      Shape shape,
      int connections,
      int queuePairs,
      long controlBytes,
      long highestPinnedBytes,
      long messages,
      Map<MessageType, Long> messagesByType,
      long work,
      long driverMessages,
      long driverRecords,
      long blocks,
      long served,
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
  private long served;
  private long open;
  private long firstBlockNs;
  private long lastPeerNs;

  /**
   * @param directory for a sparse file that stands for all map outputs
   */
  GrowthRun(Path directory, Shape shape) throws IOException, VerbsException {
    this.shape = shape;
    Path file = directory.resolve("outputs.data");
    try (RandomAccessFile outputs = new RandomAccessFile(file.toFile(), "rw")) {
      outputs.setLength((long) shape.partitions() * shape.blockBytes());
    }
    for (int i = 0; i < shape.executors(); i++) {
      executors.add(
          new VirtualExecutor(
              fabric,
              i,
              shape.pinnedBytes(),
              shape.connections(),
              file,
              shape.partitions(),
              shape.blockBytes()));
    }
  }

  Result run() {
    VirtualExecutor first = executors.get(0);
    if (shape.waves() == 1) {
      for (int task = 0; task < shape.tasks(); task++) {
        new Task(first, task, 1, executors.size()).request();
      }
      for (int i = 1; i < executors.size(); i++) {
        new Task(executors.get(i), i, 0, 1).request();
      }
    } else {
      for (int slot = 0; slot < shape.tasks(); slot++) {
        start(slot, 0);
      }
    }
    if (!fabric.runUntil(() -> open == 0, LIMIT_NS)) {
      throw new IllegalStateException(
          "%d blocks open after %d ms: %s".formatted(open, fabric.nowNs() / 1_000_000, shape));
    }
    DirectoryGrowth.Messages driver = DirectoryGrowth.of(shape.executors());
    return new Result(
        shape,
        first.maxConnections(),
        first.queuePairs(),
        first.controlBytes(),
        first.highestPinnedBytes(),
        first.messages(),
        first.messagesByType(),
        first.work(),
        driver.messages(),
        driver.records(),
        blocks,
        served,
        firstBlockNs / 1e6,
        lastPeerNs / 1e6,
        fabric.nowNs() / 1e6,
        first.maxBytesInFlight(),
        fallbacks,
        fallbacksOfOthers);
  }

  /** A task of executor 0, and after it those of the same slot in the next waves. */
  private void start(int slot, int wave) {
    Task task = new Task(executors.get(0), shape.partition(0, slot, wave), 1, executors.size());
    task.onRequest = peer -> startOfPeer(peer, slot, wave);
    if (wave + 1 < shape.waves()) {
      task.onEnd = () -> start(slot, wave + 1);
    }
    task.request();
  }

  /**
   * The part of another executor's task that reads from executor 0. All executors proceed alike, so
   * it comes when the task of executor 0 in the same slot and wave requests blocks of that
   * executor.
   */
  private void startOfPeer(int peer, int slot, int wave) {
    new Task(executors.get(peer), shape.partition(peer, slot, wave), 0, 1).request();
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
    private final Set<Integer> requested = new HashSet<>();
    private IntConsumer onRequest = peer -> {};
    private Runnable onEnd = () -> {};
    private long bytesInFlight;
    private long unanswered;

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
      unanswered += shape.mapsPerExecutor();
    }

    void request() {
      while (!waiting.isEmpty()
          && (bytesInFlight == 0 || bytesInFlight + bytes(waiting.peek()) <= TASK_BYTES)) {
        Request next = waiting.poll();
        bytesInFlight += bytes(next);
        Endpoint peer = executors.get(next.peer()).endpoint();
        reader.fetch(peer, next.blocks(), new Handler(next.peer()));
        if (requested.add(next.peer())) {
          onRequest.accept(next.peer());
        }
      }
    }

    private long bytes(Request request) {
      return (long) request.blocks().size() * shape.blockBytes();
    }

    private void onAnswer() {
      open--;
      bytesInFlight -= shape.blockBytes();
      request();
      unanswered--;
      if (unanswered == 0) {
        onEnd.run();
      }
    }

    private final class Handler implements FetchHandler {
      private final int peer;

      Handler(int peer) {
        this.peer = peer;
      }

      @Override
      public void onFetched(int index, ManagedBuffer buffer) {
        if (reader == executors.get(0)) {
          blocks++;
          firstBlockNs = firstBlockNs == 0 ? fabric.nowNs() : firstBlockNs;
          if (seenPeers.add(peer)) {
            lastPeerNs = fabric.nowNs();
          }
        } else {
          served++;
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
    }
  }
}
