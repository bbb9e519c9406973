// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest.cluster;

import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;

/** Broadcast variables of incompressible noise; every byte affects the result. */
final class BroadcastValues {
  private static final int BYTES = 8 << 20;

  private BroadcastValues() {}

  /** Short pieces, so that a variable that fits into a guest has many. */
  static void configure(SparkConf conf) {
    conf.set("spark.shuffle.rdma.broadcast.mode", "auto")
        .set("spark.broadcast.blockSize", "256k")
        .set("spark.broadcast.compress", "false");
  }

  /** The sums of a value in both executors. */
  static String sums(JavaSparkContext spark, int seed) {
    Broadcast<byte[]> value = spark.broadcast(bytes(seed));
    List<Long> sums =
        spark.parallelize(List.of(0, 1), 2).map(executor -> sum(value.value())).collect();
    value.destroy();
    return sums.toString();
  }

  /** The result of {@link #sums}. */
  static String expected(int seed) {
    return Collections.nCopies(2, sum(bytes(seed))).toString();
  }

  private static byte[] bytes(int seed) {
    byte[] bytes = new byte[BYTES];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static long sum(byte[] bytes) {
    CRC32 crc = new CRC32();
    crc.update(bytes);
    return crc.getValue();
  }
}
