// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.util.Optional;
import java.util.SplittableRandom;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.benchmarks.jobs.ComputedAnswer;
import org.sparkrdma.benchmarks.jobs.GroupBy;
import org.sparkrdma.benchmarks.jobs.NoiseBlocks;

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

  /** Runs a job of random size. Returns the error in its answer, empty if there is none. */
  Optional<String> run(JavaSparkContext spark, long seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    return switch (this) {
      case SORT_BY_KEY -> SortByKey.run(spark, random);
      case GROUP_BY_KEY ->
          groupBy(spark, random, random.nextInt(3, 9), random.nextInt(10, 200), 16 << 10);
      case JOIN -> Join.run(spark, random);
      case LARGE_BLOCKS ->
          groupBy(spark, random, random.nextInt(2, 5), 3, random.nextInt(8, 160) * RECORD_BYTES);
      case SMALL_BLOCKS ->
          groupBy(
              spark,
              random,
              random.nextInt(6, 30),
              random.nextInt(20, 120),
              random.nextInt(8, 200));
      case SQL_AGGREGATION -> SqlAggregation.run(spark, random);
      case CONCURRENT_SQL -> ConcurrentSql.run(spark, random);
      case STREAMING_AGGREGATION -> StreamingAggregation.run(spark, random);
    };
  }

  /** Blocks of one length, whose records are generated again and compared. */
  private static Optional<String> groupBy(
      JavaSparkContext spark, SplittableRandom random, int maps, int reducers, int blockBytes)
      throws Exception {
    int recordBytes = Math.min(RECORD_BYTES, blockBytes);
    NoiseBlocks blocks =
        new NoiseBlocks(maps, reducers, blockBytes, recordBytes, random.nextLong());
    // A wrong answer is an exception.
    ComputedAnswer right = new GroupBy(blocks).run(spark, "").call();
    return right.summary().rows() > 0 ? Optional.empty() : Optional.of("no records");
  }
}
