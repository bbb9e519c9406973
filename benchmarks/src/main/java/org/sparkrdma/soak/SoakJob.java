// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.benchmarks.jobs.ComputedAnswer;
import org.sparkrdma.benchmarks.jobs.GroupBy;
import scala.Tuple2;

/** A kind of job whose answer is known without running it. */
public enum SoakJob {
  /** Every executor reads a range out of every map output. */
  SORT_BY_KEY,
  /** All values of a key in one task. */
  GROUP_BY_KEY,
  /** Two shuffles read by one stage. */
  JOIN,
  /** Blocks of megabytes, some of them larger than a reader takes into memory. */
  LARGE_BLOCKS,
  /** Thousands of blocks of a few bytes. */
  SMALL_BLOCKS,
  /** Neighbouring blocks that adaptive execution reads as one. */
  SQL_AGGREGATION,
  /** Sixteen SQL sessions at the same time. */
  CONCURRENT_SQL,
  /** A Structured Streaming query with state, in several micro-batches. */
  STREAMING_AGGREGATION;

  private static final int RECORD_BYTES = 64 << 10;
  private static final long ODD = 0x9E3779B97F4A7C15L;

  /** Result for a partition that is not in order. */
  private static final Tuple2<Long, Long> DISORDER = new Tuple2<>(-1L, 1L);

  /** Runs a job of random size. Returns the error in its answer, empty if there is none. */
  Optional<String> run(JavaSparkContext spark, long seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    return switch (this) {
      case SORT_BY_KEY -> sortByKey(spark, random);
      case GROUP_BY_KEY ->
          groupBy(spark, random, random.nextInt(3, 9), random.nextInt(10, 200), 16 << 10);
      case JOIN -> join(spark, random);
      case LARGE_BLOCKS ->
          groupBy(spark, random, random.nextInt(2, 5), 3, random.nextInt(8, 160) * RECORD_BYTES);
      case SMALL_BLOCKS ->
          groupBy(
              spark,
              random,
              random.nextInt(6, 30),
              random.nextInt(20, 120),
              random.nextInt(8, 200));
      case SQL_AGGREGATION -> SqlJobs.aggregate(SqlJobs.session(spark), random);
      case CONCURRENT_SQL -> SqlJobs.aggregateConcurrently(SqlJobs.session(spark), random);
      case STREAMING_AGGREGATION -> SqlJobs.aggregateStream(SqlJobs.session(spark), random);
    };
  }

  /** Blocks of one length, whose records are generated again and compared. */
  private static Optional<String> groupBy(
      JavaSparkContext spark, SplittableRandom random, int maps, int reducers, int blockBytes)
      throws Exception {
    int recordBytes = Math.min(RECORD_BYTES, blockBytes);
    GroupBy.NoiseBlocks blocks =
        new GroupBy.NoiseBlocks(maps, reducers, blockBytes, recordBytes, random.nextLong());
    // A wrong answer is an exception.
    ComputedAnswer right = new GroupBy(blocks, 1).run(spark, "").call();
    return right.summary().rows() > 0 ? Optional.empty() : Optional.of("no records");
  }

  /** Sorts scrambled numbers: the answer is all of them in order, each with its value. */
  private static Optional<String> sortByKey(JavaSparkContext spark, SplittableRandom random) {
    long count = 1L << random.nextInt(15, 19);
    long odd = random.nextLong() | 1;
    long seed = random.nextLong();
    List<Tuple2<Long, Long>> runs =
        numbers(spark, count, random.nextInt(3, 9))
            .mapToPair(
                number -> {
                  // Multiplication by an odd number modulo a power of two is a permutation.
                  long key = (number * odd) & (count - 1);
                  return new Tuple2<>(key, value(seed, key));
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
      if (record._1 != first + length || record._2 != value(seed, record._1)) {
        return DISORDER;
      }
      length++;
    }
    return new Tuple2<>(first, length);
  }

  /** Joins numbers with the multiples of one number: the multiples remain, with both values. */
  private static Optional<String> join(JavaSparkContext spark, SplittableRandom random) {
    long step = random.nextLong(2, 20);
    long multiples = random.nextLong(2_000, 20_000);
    long seed = random.nextLong();
    JavaPairRDD<Long, Long> left =
        numbers(spark, step * multiples, random.nextInt(3, 7))
            .mapToPair(number -> new Tuple2<>(number, value(seed, number)));
    JavaPairRDD<Long, Long> right =
        numbers(spark, multiples, random.nextInt(3, 7))
            .mapToPair(number -> new Tuple2<>(number * step, value(~seed, number)));
    return compare(
        left.join(right, random.nextInt(3, 9))
            .map(
                joined -> {
                  boolean isRight =
                      joined._2._1 == value(seed, joined._1)
                          && joined._2._2 == value(~seed, joined._1 / step);
                  return new Tuple2<>(isRight ? 1L : 0L, isRight ? 0L : 1L);
                }),
        multiples);
  }

  /** The value that belongs to a number. */
  private static long value(long seed, long number) {
    long mixed = (number ^ seed) * ODD;
    return mixed ^ (mixed >>> 29);
  }

  /** The numbers below {@code count}, as an RDD. */
  private static JavaRDD<Long> numbers(JavaSparkContext spark, long count, int partitions) {
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
