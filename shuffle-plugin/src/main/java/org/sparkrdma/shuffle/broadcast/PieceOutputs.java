// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.broadcast;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.apache.spark.SparkConf;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.storage.BlockData;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.BroadcastBlockId;
import org.apache.spark.storage.ByteBufferBlockData;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.PartitionRange;
import org.sparkrdma.shuffle.output.SparkMapOutputs;
import scala.Option;

/**
 * Spark's map outputs, and the pieces that this executor's block manager has: each is a map output
 * with one partition, served by copies only. Safe for any thread.
 */
final class PieceOutputs extends SparkMapOutputs {
  private final BlockManager blocks;

  /** See the superclass. */
  PieceOutputs(
      BlockManager blocks,
      IndexShuffleBlockResolver resolver,
      List<Path> directories,
      SparkConf conf,
      boolean verifies,
      MissingLinks missing) {
    super(resolver, directories, conf, verifies, missing);
    this.blocks = blocks;
  }

  @Override
  public MapOutput openRange(int owner, int shuffleId, long mapId, PartitionRange range)
      throws IOException {
    if (shuffleId != Pieces.SHUFFLE_ID) {
      return super.openRange(owner, shuffleId, mapId, range);
    }
    BroadcastBlockId block = Pieces.block(mapId);
    long[] lengthBytes = new long[1];
    boolean found = use(block, bytes -> lengthBytes[0] = bytes.size());
    return found ? new Piece(block, lengthBytes[0]) : null;
  }

  /** Pieces take Spark's lock of a block, and have threads of their own for that. */
  @Override
  public int disks() {
    return super.disks() + 1;
  }

  @Override
  public int indexDisk(int shuffleId, long mapId) {
    return shuffleId == Pieces.SHUFFLE_ID ? super.disks() : super.indexDisk(shuffleId, mapId);
  }

  @Override
  public int dataDisk(MapOutput mapOutput) {
    return mapOutput instanceof Piece ? super.disks() : super.dataDisk(mapOutput);
  }

  /**
   * Uses the bytes of a piece.
   *
   * @return false when there is no such piece
   * @throws IOException also for the exceptions of Spark when the piece is removed meanwhile
   */
  private boolean use(BroadcastBlockId block, Consumer<BlockData> user) throws IOException {
    try {
      Option<BlockData> found = blocks.getLocalBytes(block);
      if (found.isEmpty()) {
        return false;
      }
      try {
        user.accept(found.get());
      } finally {
        blocks.releaseLockAndDispose(block, found.get(), Option.empty());
      }
      return true;
    } catch (Exception | AssertionError | LinkageError e) {
      throw new IOException("piece cannot be read: block=" + block, e);
    }
  }

  /** Fills a buffer with bytes from an offset on. */
  private static void copy(BlockData from, long offset, ByteBuffer target) {
    // Pieces on a disk are mapped or read as a whole.
    ByteBuffer[] all =
        from instanceof ByteBufferBlockData inMemory
            ? inMemory.buffer().getChunks()
            : new ByteBuffer[] {from.toByteBuffer().slice()};
    long position = offset;
    for (ByteBuffer one : all) {
      if (target.hasRemaining() && position < one.remaining()) {
        int lengthBytes = Math.min(one.remaining() - (int) position, target.remaining());
        target.put(one.slice((int) position, lengthBytes));
      }
      position = Math.max(0, position - one.remaining());
    }
    if (target.hasRemaining()) {
      throw new IllegalArgumentException("no such bytes of a piece: offset=" + offset);
    }
  }

  /** A piece in Spark's block manager. */
  private final class Piece extends MapOutput {
    private final BroadcastBlockId block;

    Piece(BroadcastBlockId block, long lengthBytes) {
      super(Path.of(block.name()), new long[] {0, lengthBytes}, null);
      this.block = block;
    }

    @Override
    public void read(long offset, ByteBuffer target) throws IOException {
      if (!use(block, bytes -> copy(bytes, offset, target))) {
        throw new FileNotFoundException("piece removed: block=" + block);
      }
    }

    /** It is no file, so it is never registered. */
    @Override
    public boolean isIn(List<Path> directories) {
      return true;
    }

    /** Its reader has the checksum of the driver. */
    @Override
    public boolean needsSums() {
      return false;
    }
  }
}
