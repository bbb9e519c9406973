// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.zip.Checksum;
import org.apache.spark.SparkEnv;
import org.apache.spark.network.shuffle.checksum.ShuffleChecksumHelper;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleManager;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.apache.spark.shuffle.sort.io.LocalDiskShuffleExecutorComponents;
import org.sparkrdma.benchmarks.transfer.TransferPlan.Layout;

/**
 * Map outputs of one shuffle (data, index and checksums), written by Spark's own writer for this
 * executor's resolver. Confined to one task's thread.
 */
final class RoundOutputs {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final ShuffleManager manager;
  private final IndexShuffleBlockResolver resolver;
  private final LocalDiskShuffleExecutorComponents writers;
  private final String algorithm;
  private final int shuffleId;
  private final Layout layout;

  /**
   * Nothing is written yet.
   *
   * @param env of this executor
   */
  RoundOutputs(SparkEnv env, int shuffleId, Layout layout) {
    this.manager = env.shuffleManager();
    this.resolver = (IndexShuffleBlockResolver) manager.shuffleBlockResolver();
    this.writers = new LocalDiskShuffleExecutorComponents(env.conf(), env.blockManager(), resolver);
    this.algorithm = env.conf().get("spark.shuffle.checksum.algorithm", "ADLER32");
    this.shuffleId = shuffleId;
    this.layout = layout;
  }

  /** Writes all map outputs and adds up the bytes of all blocks. */
  void write(long seed, BlockSum sum) throws IOException {
    // Its bytes do not compress.
    SplittableRandom random = new SplittableRandom(seed);
    byte[] chunk = new byte[Math.min(BlockSum.CHUNK_BYTES, layout.blockBytes())];
    for (int map = 0; map < layout.maps(); map++) {
      ShuffleMapOutputWriter writer =
          writers.createMapOutputWriter(shuffleId, map, layout.reducers());
      Checksum[] checksums =
          ShuffleChecksumHelper.createPartitionChecksums(layout.reducers(), algorithm);
      for (int reducer = 0; reducer < layout.reducers(); reducer++) {
        try (OutputStream out = writer.getPartitionWriter(reducer).openStream()) {
          int leftBytes = layout.blockBytes();
          while (leftBytes > 0) {
            int lengthBytes = Math.min(leftBytes, chunk.length);
            random.nextBytes(chunk);
            out.write(chunk, 0, lengthBytes);
            checksums[reducer].update(chunk, 0, lengthBytes);
            sum.add(chunk, lengthBytes);
            leftBytes -= lengthBytes;
          }
        }
        sum.endBlock(Layout.blockId(shuffleId, map, reducer));
      }
      writer.commitAllPartitions(Arrays.stream(checksums).mapToLong(Checksum::getValue).toArray());
    }
  }

  /** Deletes all map outputs and unregisters the shuffle. */
  void remove() {
    for (int map = 0; map < layout.maps(); map++) {
      resolver.removeDataByMap(shuffleId, map);
    }
    manager.unregisterShuffle(shuffleId);
  }

  /**
   * A sum over names and bytes of the blocks of a round that does not depend on their order.
   * Confined to one thread.
   *
   * <p>It covers every byte, or eight of each 64 bytes where its own cost would disturb a
   * measurement.
   */
  static final class BlockSum {
    /** Length of a chunk of a block; only the last chunk may be shorter. */
    static final int CHUNK_BYTES = 64 << 10;

    private static final long FACTOR = 0x9E3779B97F4A7C15L;
    private static final int SPARSE_BYTES = 64;

    private final int strideBytes;
    private final byte[] buffer = new byte[CHUNK_BYTES];
    private long blockSum;
    private long total;

    /**
     * @param everyByte whether to add every byte, or one long of each 64 bytes
     */
    BlockSum(boolean everyByte) {
      this.strideBytes = everyByte ? Long.BYTES : SPARSE_BYTES;
    }

    /**
     * Reads and adds a block.
     *
     * @throws IOException if it has another length
     */
    void addBlock(String blockId, InputStream in, int blockBytes) throws IOException {
      long lengthBytes = 0;
      int count = in.readNBytes(buffer, 0, buffer.length);
      while (count > 0) {
        add(buffer, count);
        lengthBytes += count;
        count = in.readNBytes(buffer, 0, buffer.length);
      }
      if (lengthBytes != blockBytes) {
        throw new IOException(
            "block %s has %d bytes, not %d".formatted(blockId, lengthBytes, blockBytes));
      }
      endBlock(blockId);
    }

    /** Adds the next chunk of the current block. */
    void add(byte[] chunk, int lengthBytes) {
      long sum = blockSum + lengthBytes;
      for (int i = 0; i <= lengthBytes - Long.BYTES; i += strideBytes) {
        sum = sum * FACTOR + (long) LONGS.get(chunk, i);
      }
      blockSum = sum;
    }

    /** Ends the current block, which has this name. */
    void endBlock(String blockId) {
      total += (blockSum ^ blockId.hashCode()) * FACTOR;
      blockSum = 0;
    }

    /** The sum over all blocks. */
    long total() {
      return total;
    }
  }
}
