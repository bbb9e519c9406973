// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.FetchFailedException;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockId;
import org.sparkrdma.shuffle.metrics.ShuffleCounters.StageReads;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.collection.Seq;

/**
 * A reader of a task, and the map outputs that it reads: when a fetch fails, the task names the map
 * output by its index, and Spark recomputes what it names. The end of a task cancels nothing: its
 * READs end, and {@code transport.BlockFetch} returns their memory. Confined to the task's threads,
 * but for {@link #isHungry} and what it counts, where the thread is named.
 */
public final class FetchingTask {
  private static final int UNKNOWN_INDEX = -1;

  /** Null for readers that are no task. */
  private final TaskContext task;

  private final boolean readsBroadcast;
  private final boolean known;

  /** Blocks that were delivered by RDMA and not opened. */
  private final AtomicInteger unopened = new AtomicInteger();

  /** Blocks that were delivered by RDMA. */
  private int delivered;

  private final List<Source> seen = new ArrayList<>();

  /**
   * Map outputs of one address, in 12 bytes each: Spark drops its own list of them, which has ten
   * times as many, when their requests go out.
   */
  private record Source(BlockManagerId address, int shuffleId, long[] mapIds, int[] mapIndexes) {
    static Source of(BlockManagerId address, Seq<Tuple3<BlockId, Object, Object>> blocks) {
      int shuffleId = -1;
      long[] mapIds = new long[blocks.size()];
      int[] mapIndexes = new int[mapIds.length];
      int count = 0;
      Iterator<Tuple3<BlockId, Object, Object>> each = blocks.iterator();
      while (each.hasNext()) {
        Tuple3<BlockId, Object, Object> block = each.next();
        // The partitions of a map output follow each other.
        if (block._1() instanceof ShuffleBlockId id
            && (count == 0 || mapIds[count - 1] != id.mapId())) {
          shuffleId = id.shuffleId();
          mapIds[count] = id.mapId();
          mapIndexes[count++] = (Integer) block._3();
        }
      }
      return new Source(
          address, shuffleId, Arrays.copyOf(mapIds, count), Arrays.copyOf(mapIndexes, count));
    }

    /** The index of a map output; {@link #UNKNOWN_INDEX} when it is not here. */
    int mapIndex(BlockRange block) {
      for (int i = 0; block.shuffleId() == shuffleId && i < mapIds.length; i++) {
        if (mapIds[i] == block.mapId()) {
          return mapIndexes[i];
        }
      }
      return UNKNOWN_INDEX;
    }
  }

  /**
   * Of one request, whose reader is not known.
   *
   * @param task null for none
   */
  public FetchingTask(TaskContext task) {
    this(task, false, false);
  }

  private FetchingTask(TaskContext task, boolean known, boolean readsBroadcast) {
    this.task = task;
    this.known = known;
    this.readsBroadcast = readsBroadcast;
  }

  /**
   * Of all requests of one reader.
   *
   * @param task null for none
   */
  public static FetchingTask ofReader(TaskContext task) {
    return new FetchingTask(task, true, false);
  }

  /** The reader of pieces of a broadcast variable, which is no task. */
  public static FetchingTask ofBroadcast() {
    return new FetchingTask(null, false, true);
  }

  /** Whether it reads pieces of a broadcast variable. */
  boolean readsBroadcast() {
    return readsBroadcast;
  }

  /** Whether all requests of the reader have this object. Safe for any thread. */
  boolean isKnown() {
    return known;
  }

  /**
   * Whether the reader has opened all that was delivered, so that its task may wait; always where
   * the reader is not known. Safe for any thread.
   */
  boolean isHungry() {
    return !known || unopened.get() <= 0;
  }

  /** A block is delivered. The agent. */
  void onDelivered() {
    unopened.incrementAndGet();
    delivered++;
  }

  /** Number of blocks that were delivered by RDMA. The agent. */
  int delivered() {
    return delivered;
  }

  /** A delivered block is opened, or released unopened; once. Any thread. */
  void onOpened() {
    unopened.decrementAndGet();
  }

  /** The same blocks, remembered here when they are taken. */
  public Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> remember(
      Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocks) {
    return new AbstractIterator<>() {
      @Override
      public boolean hasNext() {
        return blocks.hasNext();
      }

      @Override
      public Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>> next() {
        Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>> next = blocks.next();
        seen.add(Source.of(next._1(), next._2()));
        return next;
      }
    };
  }

  /** Stage of the task. */
  public int stage() {
    return task == null ? StageReads.NO_STAGE : task.stageId();
  }

  /** Throws Spark's own exception when the task was killed. */
  void throwIfKilled() {
    if (task != null) {
      task.killTaskIfInterrupted();
    }
  }

  /** The failure of a block, to be thrown on the task's thread: Spark notes its creation there. */
  RuntimeException fetchFailed(
      BlockManagerAddress peer, BlockRange block, String message, Throwable cause) {
    BlockManagerId address =
        BlockManagerId.apply(peer.executorId(), peer.host(), peer.port(), scala.Option.empty());
    int mapIndex = UNKNOWN_INDEX;
    for (Source source : seen) {
      if (mapIndex == UNKNOWN_INDEX) {
        mapIndex = source.mapIndex(block);
        address = mapIndex == UNKNOWN_INDEX ? address : source.address();
      }
    }
    return unchecked(
        new FetchFailedException(
            address,
            block.shuffleId(),
            block.mapId(),
            mapIndex,
            block.startReduceId(),
            message,
            cause));
  }

  /**
   * Throws a checked exception where Spark's interface declares none, as Spark's Scala code does.
   */
  @SuppressWarnings("unchecked")
  static <E extends Exception> RuntimeException unchecked(Exception e) throws E {
    throw (E) e;
  }
}
