// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak.jobs;

import java.util.Optional;
import java.util.SplittableRandom;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** Groups numbers by their remainder: each group's length and sum are known. */
final class GroupByKey {
  private GroupByKey() {}

  static Optional<String> run(JavaSparkContext spark, SplittableRandom random) {
    long keys = random.nextLong(10, 2_000);
    long count = random.nextLong(50_000, 300_000);
    long seed = random.nextLong();
    return KnownData.compare(
        KnownData.numbers(spark, count, random.nextInt(3, 9))
            .mapToPair(number -> new Tuple2<>(number % keys, KnownData.value(seed, number)))
            .groupByKey(random.nextInt(3, 9))
            .map(group -> isRight(group, keys, count, seed) ? right() : wrong()),
        keys);
  }

  private static boolean isRight(
      Tuple2<Long, Iterable<Long>> group, long keys, long count, long seed) {
    long difference = 0;
    for (long number = group._1; number < count; number += keys) {
      difference += KnownData.value(seed, number) + 1;
    }
    for (long value : group._2) {
      difference -= value + 1;
    }
    return difference == 0;
  }

  private static Tuple2<Long, Long> right() {
    return new Tuple2<>(1L, 0L);
  }

  private static Tuple2<Long, Long> wrong() {
    return new Tuple2<>(0L, 1L);
  }
}
