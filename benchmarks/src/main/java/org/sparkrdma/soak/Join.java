// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.util.Optional;
import java.util.SplittableRandom;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** Joins numbers with the multiples of one number: the multiples remain, with both values. */
final class Join {
  private Join() {}

  static Optional<String> run(JavaSparkContext spark, SplittableRandom random) {
    long step = random.nextLong(2, 20);
    long multiples = random.nextLong(2_000, 20_000);
    long seed = random.nextLong();
    JavaPairRDD<Long, Long> left =
        KnownData.numbers(spark, step * multiples, random.nextInt(3, 7))
            .mapToPair(number -> new Tuple2<>(number, KnownData.value(seed, number)));
    JavaPairRDD<Long, Long> right =
        KnownData.numbers(spark, multiples, random.nextInt(3, 7))
            .mapToPair(number -> new Tuple2<>(number * step, KnownData.value(~seed, number)));
    return KnownData.compare(
        left.join(right, random.nextInt(3, 9))
            .map(
                joined -> {
                  boolean isRight =
                      joined._2._1 == KnownData.value(seed, joined._1)
                          && joined._2._2 == KnownData.value(~seed, joined._1 / step);
                  return new Tuple2<>(isRight ? 1L : 0L, isRight ? 0L : 1L);
                }),
        multiples);
  }
}
