// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleManager;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.apache.spark.shuffle.sort.io.LocalDiskShuffleExecutorComponents;

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
    long state = seed;
    byte[] chunk = new byte[BlockSum.CHUNK_BYTES];
    for (int map = 0; map < layout.maps(); map++) {
      ShuffleMapOutputWriter writer =
          writers.createMapOutputWriter(shuffleId, map, layout.reducers());
      long[] checksums = new long[layout.reducers()];
      for (int reducer = 0; reducer < layout.reducers(); reducer++) {
        Checksum checksum = newChecksum(algorithm);
        try (OutputStream out = writer.getPartitionWriter(reducer).openStream()) {
          int leftBytes = layout.blockBytes();
          while (leftBytes > 0) {
            int lengthBytes = Math.min(leftBytes, chunk.length);
            state = fill(chunk, lengthBytes, state);
            out.write(chunk, 0, lengthBytes);
            checksum.update(chunk, 0, lengthBytes);
            sum.add(chunk, lengthBytes);
            leftBytes -= lengthBytes;
          }
        }
        checksums[reducer] = checksum.getValue();
        sum.endBlock(Layout.blockId(shuffleId, map, reducer));
      }
      writer.commitAllPartitions(checksums);
    }
  }

  /**
   * Fills the first {@code lengthBytes}, a multiple of eight, with bytes that do not compress and
   * that differ from block to block (SplitMix64). Returns the next state.
   */
  static long fill(byte[] chunk, int lengthBytes, long state) {
    long next = state;
    for (int i = 0; i < lengthBytes; i += Long.BYTES) {
      next += 0x9E3779B97F4A7C15L;
      long mixed = (next ^ (next >>> 30)) * 0xBF58476D1CE4E5B9L;
      mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
      LONGS.set(chunk, i, mixed ^ (mixed >>> 31));
    }
    return next;
  }

  private static Checksum newChecksum(String algorithm) {
    return switch (algorithm) {
      case "ADLER32" -> new Adler32();
      case "CRC32" -> new CRC32();
      case "CRC32C" -> new CRC32C();
      default -> throw new IllegalArgumentException("no such checksum: " + algorithm);
    };
  }

  /** Deletes all map outputs and unregisters the shuffle. */
  void remove() {
    for (int map = 0; map < layout.maps(); map++) {
      resolver.removeDataByMap(shuffleId, map);
    }
    manager.unregisterShuffle(shuffleId);
  }
}
