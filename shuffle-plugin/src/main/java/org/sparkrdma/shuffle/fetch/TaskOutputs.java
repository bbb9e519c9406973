// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.shuffle.FetchFailedException;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockId;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.collection.Seq;

/**
 * The map outputs that a {@link FetchingTask} reads: when a fetch fails, the task names the map
 * output by its index, and Spark recomputes what it names. Confined to the task's threads.
 */
public final class TaskOutputs {
  private static final int UNKNOWN_INDEX = -1;

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

  TaskOutputs() {}

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
