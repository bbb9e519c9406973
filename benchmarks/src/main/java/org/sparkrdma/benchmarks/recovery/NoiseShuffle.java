// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.recovery;

import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.benchmarks.jobs.workload.NoiseBlocks;
import scala.Tuple2;

/** A job of one shuffle whose reducers do little more than read. Stateless. */
final class NoiseShuffle {
  private NoiseShuffle() {}

  /** Runs the job and adds up the checksums of all records that the reducers read. */
  static long run(JavaSparkContext spark, RecoveryPlan plan) {
    NoiseBlocks blocks =
        new NoiseBlocks(
            plan.maps(), plan.reducers(), plan.blockBytes(), plan.blockBytes(), plan.seed());
    List<Integer> maps = IntStream.range(0, plan.maps()).boxed().toList();
    return spark
        .parallelize(maps, plan.maps())
        .flatMapToPair(blocks::ofMap)
        .partitionBy(new HashPartitioner(plan.reducers()))
        .mapPartitions(NoiseShuffle::sum)
        .collect()
        .stream()
        .mapToLong(Long::longValue)
        .sum();
  }

  private static Iterator<Long> sum(Iterator<Tuple2<Integer, byte[]>> fetched) {
    long sum = 0;
    while (fetched.hasNext()) {
      sum += NoiseBlocks.checksum(fetched.next()._2);
    }
    return List.of(sum).iterator();
  }
}
