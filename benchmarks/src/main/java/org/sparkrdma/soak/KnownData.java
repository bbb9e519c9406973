// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.util.Optional;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** Data that both ends of a shuffle compute from the seed, and the comparison. */
final class KnownData {
  private static final long ODD = 0x9E3779B97F4A7C15L;

  private KnownData() {}

  /** The value that belongs to a number. */
  static long value(long seed, long number) {
    long mixed = (number ^ seed) * ODD;
    return mixed ^ (mixed >>> 29);
  }

  /** The numbers below {@code count}, as an RDD. */
  static JavaRDD<Long> numbers(JavaSparkContext spark, long count, int partitions) {
    return spark.sc().range(0, count, 1, partitions).toJavaRDD().map(number -> (Long) number);
  }

  /** Adds up the pairs of right and wrong counts and compares with the expected count. */
  static Optional<String> compare(JavaRDD<Tuple2<Long, Long>> judged, long expected) {
    Tuple2<Long, Long> sum =
        judged.fold(new Tuple2<>(0L, 0L), (a, b) -> new Tuple2<>(a._1 + b._1, a._2 + b._2));
    return sum._1 == expected && sum._2 == 0
        ? Optional.empty()
        : Optional.of("right=%d wrong=%d expected=%d".formatted(sum._1, sum._2, expected));
  }
}
