// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.broadcast;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.apache.spark.SparkEnv;
import org.apache.spark.internal.config.package$;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.storage.BlockInfo;
import org.apache.spark.storage.BlockInfoManager;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.BroadcastBlockId;
import org.apache.spark.storage.StorageLevel;
import org.apache.spark.util.io.ChunkedByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.fetch.BlockManagerAddress;
import scala.Option;
import scala.reflect.ClassTag$;

/**
 * Brings one broadcast variable into this executor: asks the driver for a chunk and its source,
 * fetches and verifies its pieces, puts them into Spark's block manager, and asks again. It ends at
 * the first thing that goes wrong for longer than a second: Torrent fetches what is missing. Run by
 * one thread.
 */
final class BroadcastFetch implements Runnable {
  /** Time without progress after which tasks wait no longer. */
  static final long PROGRESS_MS = 1_000;

  /** Time without a piece after which another source is tried. */
  static final long SOURCE_MS = PROGRESS_MS / 2;

  /**
   * Length of pieces that are requested at a time: a source has two readers and copies for 32 MiB,
   * which shuffles need, too.
   */
  private static final int REQUESTED_BYTES = 8 << 20;

  /**
   * Length of the arrays of a piece: less than half of a region of G1, which is 1 MiB or more.
   * Longer arrays take whole regions, and each may start a cycle of the collector.
   */
  private static final int ARRAY_BYTES = 256 << 10;

  /** Length of a variable whose pieces are whole: G1 would copy so many short arrays. */
  private static final int WHOLE_BYTES = 256 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(BroadcastFetch.class);

  /** The driver, and the executors that have chunks. */
  interface Sources {
    /**
     * Asks the driver, up to {@link #PROGRESS_MS}.
     *
     * @param done chunk that has arrived; {@link BroadcastTracker#NONE} for none
     * @param failed source that did not deliver; empty for none
     * @return null when there is no further chunk
     * @throws Exception when the driver does not answer
     */
    Source next(long id, int done, String failed) throws Exception;

    /** Informs the driver that this executor asks no more. */
    void leave(long id);

    /** Requests a piece by READ; false when that is not possible. Does not block. */
    boolean read(BlockManagerAddress from, long id, int piece, PieceArrivals arrivals);

    /** Requests a piece by Spark's own transfer; may block while it connects. */
    void fetch(BlockManagerAddress from, long id, int piece, PieceArrivals arrivals);
  }

  /** A chunk, and the executor or driver that has it. */
  record Source(int chunk, BlockManagerAddress peer) {}

  private final SparkEnv env;
  private final BlockManager blocks;
  private final Pieces pieces;
  private final BroadcastGate gate;
  private final Sources sources;

  /** A block of the variable that is there from the first piece until Spark removes them all. */
  private final BroadcastBlockId mark;

  private final BitSet arrived = new BitSet();
  private volatile long progressNs = System.nanoTime();

  /** The variable is removed, or nothing has come for a second. */
  private volatile boolean ended;

  /** The driver has destroyed the variable. */
  private volatile boolean destroyed;

  /**
   * Opens the gate after a second without progress from now on, whatever its thread waits for.
   *
   * @param gate opened at the end
   */
  BroadcastFetch(SparkEnv env, Pieces pieces, BroadcastGate gate, Sources sources) {
    this.env = env;
    this.blocks = env.blockManager();
    this.pieces = pieces;
    this.gate = gate;
    this.sources = sources;
    this.mark = Pieces.mark(pieces.id());
    watch(PROGRESS_MS);
  }

  private void watch(long waitMs) {
    CompletableFuture.delayedExecutor(waitMs, TimeUnit.MILLISECONDS, Runnable::run)
        .execute(this::checkProgress);
  }

  /** On the JDK's thread of timers. */
  private void checkProgress() {
    long idleMs = (System.nanoTime() - progressNs) / 1_000_000;
    if (idleMs < PROGRESS_MS && !ended) {
      watch(PROGRESS_MS - idleMs);
    } else {
      ended = true;
      gate.open();
    }
  }

  /** The variable is destroyed: nothing more is fetched. Any thread. */
  void remove() {
    destroyed = true;
    ended = true;
  }

  private boolean hasMark() {
    return blocks.blockInfoManager().get(mark).isDefined();
  }

  /**
   * Removes what this has put after Spark had removed the variable here, as it does when the
   * variable is unpersisted or destroyed. To be called after the fetch, when Spark removes none any
   * more: Spark fails where two threads remove a block. Does not wait for a task that reads one.
   *
   * @return false when a task reads one
   */
  synchronized boolean cleanUp() {
    if (!destroyed && hasMark()) {
      return true;
    }
    boolean all = removeOwn(mark);
    for (int i = 0; i < pieces.count(); i++) {
      all &= removeOwn(Pieces.block(pieces.id(), i));
    }
    return all;
  }

  /** Removes a block, unless Torrent has put it for a task that came after an unpersist. */
  private boolean removeOwn(BroadcastBlockId block) {
    BlockInfoManager locks = blocks.blockInfoManager();
    Option<BlockInfo> found = locks.get(block);
    if (found.isEmpty() || found.get().tellMaster()) {
      return true;
    }
    if (locks.lockForWriting(block, false).isEmpty()) {
      return locks.get(block).isEmpty();
    }
    locks.unlock(block, Option.empty());
    blocks.removeBlock(block, false);
    return true;
  }

  @Override
  public void run() {
    long startNs = System.nanoTime();
    boolean reported = false;
    try {
      reported =
          !ended
              && hasRoom(pieces.lengthBytes())
              && put(mark, ByteBuffer.wrap(new byte[1]))
              && fetchAll();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception | AssertionError e) {
      // Spark's RPC may throw any; its storage asserts when it removes a variable at this moment.
      LOG.debug("Broadcast variable {} does not come by the pipeline", pieces.id(), e);
    } finally {
      ended = true;
      gate.open();
      if (!reported) {
        sources.leave(pieces.id());
      }
    }
    LOG.info(
        "Broadcast variable {} of {} bytes {} in {} ms",
        pieces.id(),
        pieces.lengthBytes(),
        isComplete() ? "came by the pipeline" : "is left to Torrent",
        (System.nanoTime() - startNs) / 1_000_000);
  }

  /** Whether nothing more is fetched, because it has ended or Spark has removed the variable. */
  private boolean isEnded() {
    return ended || !hasMark();
  }

  private boolean isComplete() {
    return arrived.cardinality() == pieces.count();
  }

  /** Fetches chunks until the driver names no more, or is a source that fails; then false. */
  private boolean fetchAll() throws Exception {
    Source next = sources.next(pieces.id(), BroadcastTracker.NONE, "");
    while (next != null && !isEnded()) {
      if (next.chunk() < 0 || next.chunk() >= pieces.chunks()) {
        throw new IllegalArgumentException("no such chunk: " + next.chunk());
      }
      boolean fetched = fetch(next.chunk(), next.peer());
      if (!fetched && next.peer().executorId().equals(BroadcastTracker.DRIVER)) {
        return false;
      }
      if (isComplete()) {
        gate.open();
      }
      int done = fetched ? next.chunk() : BroadcastTracker.NONE;
      next = sources.next(pieces.id(), done, fetched ? "" : next.peer().executorId());
    }
    return isComplete() && !isEnded();
  }

  /** Fetches the missing pieces of a chunk; false when the source does not deliver. */
  private boolean fetch(int chunk, BlockManagerAddress from)
      throws InterruptedException, IOException {
    int end = pieces.firstPiece(chunk + 1);
    int next = arrived.nextClearBit(pieces.firstPiece(chunk));
    int open = 0;
    PieceArrivals arrivals = new PieceArrivals();
    try {
      while ((next < end || open > 0) && !isEnded()) {
        if (next < end && open < Math.max(1, REQUESTED_BYTES / pieces.pieceBytes())) {
          if (!sources.read(from, pieces.id(), next, arrivals)) {
            sources.fetch(from, pieces.id(), next, arrivals);
          }
          next = arrived.nextClearBit(next + 1);
          open++;
          continue;
        }
        PieceArrivals.Arrival arrival = arrivals.poll(SOURCE_MS);
        if (arrival == null) {
          return false;
        }
        if (take(arrival)) {
          open--;
        } else if (arrival.byRead()) {
          sources.fetch(from, pieces.id(), arrival.piece(), arrivals);
        } else {
          return false;
        }
      }
      return !isEnded();
    } finally {
      arrivals.close();
    }
  }

  /** Puts a piece into the block manager; false when its bytes are missing or wrong. */
  private boolean take(PieceArrivals.Arrival arrival) throws IOException {
    if (arrival.bytes() == null) {
      return false;
    }
    ByteBuffer[] bytes;
    try {
      bytes = onHeap(arrival.bytes(), pieces.lengthBytes(arrival.piece()));
    } finally {
      arrival.bytes().release();
    }
    if (bytes == null || crc32c(bytes) != pieces.sums()[arrival.piece()]) {
      return false;
    }
    if (!hasRoom(pieces.lengthBytes(arrival.piece()))
        || !put(Pieces.block(pieces.id(), arrival.piece()), bytes)) {
      throw new IOException("no storage memory for a piece");
    }
    arrived.set(arrival.piece());
    progressNs = System.nanoTime();
    return true;
  }

  /** The bytes in arrays of their own; null when there are more or fewer. */
  private ByteBuffer[] onHeap(ManagedBuffer from, int lengthBytes) throws IOException {
    if (from.size() != lengthBytes) {
      return null;
    }
    int longest = pieces.lengthBytes() < WHOLE_BYTES ? ARRAY_BYTES : lengthBytes;
    ByteBuffer[] all = new ByteBuffer[(lengthBytes - 1) / longest + 1];
    try (InputStream in = from.createInputStream()) {
      for (int i = 0; i < all.length; i++) {
        byte[] array = new byte[Math.min(longest, lengthBytes - i * longest)];
        if (in.readNBytes(array, 0, array.length) < array.length) {
          return null;
        }
        all[i] = ByteBuffer.wrap(array);
      }
    }
    return all;
  }

  /** CRC32C of the rest of all buffers, which are not changed. */
  static long crc32c(ByteBuffer... all) {
    CRC32C crc = new CRC32C();
    for (ByteBuffer bytes : all) {
      crc.update(bytes.duplicate());
    }
    return crc.getValue();
  }

  /** Only in memory, and only this executor knows it: Torrent reads from its own sources. */
  private boolean put(BroadcastBlockId block, ByteBuffer... bytes) {
    return blocks.putBytes(
        block,
        new ChunkedByteBuffer(bytes),
        StorageLevel.MEMORY_ONLY_SER(),
        false,
        ClassTag$.MODULE$.apply(Object.class));
  }

  /**
   * Whether storage has so much free memory of its own: no cached block is evicted for a piece, and
   * tasks do not need it for their work. Spark cannot evict pieces before the first task that reads
   * them has ended.
   */
  private boolean hasRoom(long lengthBytes) {
    var memory = env.memoryManager();
    double share = (Double) env.conf().get(package$.MODULE$.MEMORY_STORAGE_FRACTION());
    long own = (long) (memory.maxOnHeapStorageMemory() * share);
    return own - memory.storageMemoryUsed() >= lengthBytes;
  }
}
