// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Iterator;
import java.util.SplittableRandom;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;
import scala.Tuple2;

/**
 * Page rank over a generated graph: few pages have most of the links. Each iteration shuffles the
 * contributions of all links. Ranks are whole numbers, so that the answer does not depend on the
 * order in which contributions are added.
 *
 * @param pages number of pages
 * @param links from each page
 */
public record PageRank(int pages, int links, int iterations, int partitions)
    implements Workload, Serializable {
  private static final long serialVersionUID = 1L;
  private static final long SEED = 20_261_122;

  /** Rank of a page at the start. */
  private static final long UNIT = 1_000_000_000;

  /** The usual damping factor, in percent. */
  private static final long PERCENT = 85;

  /** The share of pages below {@code x} gets {@code x^(1/EXPONENT)} of all links. */
  private static final double EXPONENT = 3;

  /**
   * @param shape such as {@code 200000x8x5x32}: pages, links of each, iterations, partitions
   */
  public static PageRank parse(String shape) {
    Workload.Shape parts = Workload.Shape.parse(shape, 4);
    return new PageRank(
        parts.count(0, 10, 100_000_000),
        parts.count(1, 1, 1_000),
        parts.count(2, 1, 100),
        parts.count(3, 1, 100_000));
  }

  @Override
  public PendingAnswer run(JavaSparkContext spark, String data) {
    HashPartitioner partitioner = new HashPartitioner(partitions);
    JavaPairRDD<Integer, int[]> graph =
        spark
            .sc()
            .range(0, pages, 1, partitions)
            .toJavaRDD()
            .mapToPair(page -> targets(((Long) page).intValue()))
            .partitionBy(partitioner)
            .persist(StorageLevel.MEMORY_AND_DISK());
    JavaPairRDD<Integer, Long> ranks = graph.mapValues(ignored -> UNIT);
    for (int i = 0; i < iterations; i++) {
      ranks =
          graph
              .join(ranks, partitioner)
              .flatMapToPair(page -> contributions(page._2._1, page._2._2))
              .reduceByKey(partitioner, Long::sum)
              .mapValues(sum -> UNIT * (100 - PERCENT) / 100 + sum * PERCENT / 100);
    }
    Tuple2<Long, Long> sum =
        ranks
            .map(rank -> new Tuple2<>(1L, digest(rank._1, rank._2)))
            .fold(new Tuple2<>(0L, 0L), (a, b) -> new Tuple2<>(a._1 + b._1, a._2 + b._2));
    graph.unpersist(true);
    return new PendingAnswer(() -> ComputedAnswer.of(ComputedAnswer.Answer.of(sum._1, sum._2)));
  }

  private Tuple2<Integer, int[]> targets(int page) {
    SplittableRandom random = new SplittableRandom(SEED + page);
    int[] targets = new int[links];
    for (int i = 0; i < links; i++) {
      targets[i] = (int) (pages * Math.pow(random.nextDouble(), EXPONENT));
    }
    return new Tuple2<>(page, targets);
  }

  private static Iterator<Tuple2<Integer, Long>> contributions(int[] targets, long rank) {
    long part = rank / targets.length;
    return Arrays.stream(targets).mapToObj(target -> new Tuple2<>(target, part)).iterator();
  }

  private static long digest(int page, long rank) {
    return new SplittableRandom(page * UNIT ^ rank).nextLong();
  }
}
