// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak.jobs;

import static java.util.stream.Collectors.joining;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.apache.spark.api.java.JavaSparkContext;

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

  private static final String ALL = "all";

  /**
   * Returns the jobs with these names, in upper or lower case; {@code all} stands for all of them.
   *
   * @throws IllegalArgumentException when a name is unknown
   */
  public static List<SoakJob> named(List<String> names) {
    return names.stream().anyMatch(ALL::equalsIgnoreCase)
        ? List.of(values())
        : names.stream().distinct().map(SoakJob::named).toList();
  }

  private static SoakJob named(String name) {
    return Arrays.stream(values())
        .filter(job -> job.name().equalsIgnoreCase(name))
        .findAny()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no job is named '"
                        + name
                        + "': give "
                        + ALL
                        + ", or some of "
                        + Arrays.stream(values()).map(Enum::name).collect(joining(","))));
  }

  /** Runs a job of random size. Returns the error in its answer, empty if there is none. */
  Optional<String> run(JavaSparkContext spark, long seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    return switch (this) {
      case SORT_BY_KEY -> SortByKey.run(spark, random);
      case GROUP_BY_KEY -> GroupByKey.run(spark, random);
      case JOIN -> Join.run(spark, random);
      case LARGE_BLOCKS -> largeBlocks(spark, random);
      case SMALL_BLOCKS -> smallBlocks(spark, random);
      case SQL_AGGREGATION -> SqlAggregation.run(spark, random);
      case CONCURRENT_SQL -> ConcurrentSql.run(spark, random);
      case STREAMING_AGGREGATION -> StreamingAggregation.run(spark, random);
    };
  }

  private static Optional<String> largeBlocks(JavaSparkContext spark, SplittableRandom random) {
    int maps = random.nextInt(2, 5);
    int records = random.nextInt(8, 160);
    return new UniformBlocks(maps, 3, records, 64 << 10, random.nextLong()).compare(spark);
  }

  private static Optional<String> smallBlocks(JavaSparkContext spark, SplittableRandom random) {
    int maps = random.nextInt(6, 30);
    int reducers = random.nextInt(20, 120);
    return new UniformBlocks(maps, reducers, 1, random.nextInt(8, 200), random.nextLong())
        .compare(spark);
  }
}
