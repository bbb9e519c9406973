// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** Sorts scrambled numbers: the answer is all of them in order, each with its value. */
final class SortByKey {
  /** Result for a partition that is not in order. */
  private static final Tuple2<Long, Long> DISORDER = new Tuple2<>(-1L, 1L);

  private SortByKey() {}

  static Optional<String> run(JavaSparkContext spark, SplittableRandom random) {
    long count = 1L << random.nextInt(15, 19);
    long odd = random.nextLong() | 1;
    long seed = random.nextLong();
    List<Tuple2<Long, Long>> runs =
        KnownData.numbers(spark, count, random.nextInt(3, 9))
            .mapToPair(
                number -> {
                  // Multiplication by an odd number modulo a power of two is a permutation.
                  long key = (number * odd) & (count - 1);
                  return new Tuple2<>(key, KnownData.value(seed, key));
                })
            .sortByKey(true, random.nextInt(3, 9))
            .mapPartitions(sorted -> List.of(firstAndLength(sorted, seed)).iterator())
            .collect();
    long next = 0;
    for (Tuple2<Long, Long> run : runs) {
      if (run._2 > 0 && run._1 != next) {
        return Optional.of("expected %d and on, found first=%d".formatted(next, run._1));
      }
      next += run._2;
    }
    return next == count
        ? Optional.empty()
        : Optional.of("expected %d records, found %d".formatted(count, next));
  }

  /** First number and length of a partition; its numbers must be consecutive, with their values. */
  private static Tuple2<Long, Long> firstAndLength(Iterator<Tuple2<Long, Long>> sorted, long seed) {
    long first = 0;
    long length = 0;
    while (sorted.hasNext()) {
      Tuple2<Long, Long> record = sorted.next();
      if (length == 0) {
        first = record._1;
      }
      if (record._1 != first + length || record._2 != KnownData.value(seed, record._1)) {
        return DISORDER;
      }
      length++;
    }
    return new Tuple2<>(first, length);
  }
}
