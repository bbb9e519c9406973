// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import scala.Tuple2;

/**
 * Records of a shuffle in which every map output has a block of the same length for every reducer.
 * The bytes are noise from a seed, which no codec compresses.
 *
 * @param maps number of map outputs
 * @param reducers number of blocks in each map output
 * @param blockBytes payload of one block
 * @param recordBytes payload of one record; the last record of a block may be shorter
 */
public record NoiseBlocks(int maps, int reducers, int blockBytes, int recordBytes, long seed)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /** The records of one map output, each with the number of its reducer. Generated lazily. */
  public Iterator<Tuple2<Integer, byte[]>> ofMap(int map) {
    SplittableRandom random = new SplittableRandom(seed + map);
    return IntStream.range(0, reducers)
        .boxed()
        .flatMap(
            reducer ->
                IntStream.range(0, recordsPerBlock())
                    .mapToObj(record -> new Tuple2<>(reducer, noise(random, record))))
        .iterator();
  }

  /** Sum of the checksums of all records of one map output. */
  long sumOfMap(int map) {
    long sum = 0;
    for (var records = ofMap(map); records.hasNext(); ) {
      Tuple2<Integer, byte[]> next = records.next();
      sum += checksum(next._1, next._2);
    }
    return sum;
  }

  private byte[] noise(SplittableRandom random, int record) {
    byte[] noise = new byte[Math.min(recordBytes, blockBytes - record * recordBytes)];
    random.nextBytes(noise);
    return noise;
  }

  int recordsPerBlock() {
    return (blockBytes + recordBytes - 1) / recordBytes;
  }

  long blocks() {
    return (long) maps * reducers;
  }

  /** Checksum of a record together with its key. */
  static long checksum(int key, byte[] record) {
    CRC32C checksum = new CRC32C();
    checksum.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, key));
    checksum.update(record);
    return checksum.getValue();
  }

  /** Checksum of one record. Sums of them do not depend on the order of the records. */
  public static long checksum(byte[] record) {
    CRC32C checksum = new CRC32C();
    checksum.update(record);
    return checksum.getValue();
  }
}
