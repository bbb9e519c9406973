// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.recovery;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** A job of one shuffle whose reducers do little more than read. Stateless. */
final class PaddedShuffle {
  private PaddedShuffle() {}

  /** Runs it and sums up the checksums of all records that the reducers got. */
  static long run(JavaSparkContext spark, RecoveryPlan plan) {
    List<Integer> maps = IntStream.range(0, plan.maps()).boxed().toList();
    return spark
        .parallelize(maps, plan.maps())
        .flatMapToPair(map -> records(plan, map))
        .partitionBy(new HashPartitioner(plan.reducers()))
        .mapPartitions(PaddedShuffle::sum)
        .collect()
        .stream()
        .mapToLong(Long::longValue)
        .sum();
  }

  private static Iterator<Tuple2<Integer, byte[]>> records(RecoveryPlan plan, int map) {
    SplittableRandom random = new SplittableRandom(plan.seed() + map);
    List<Integer> reducers = IntStream.range(0, plan.reducers()).boxed().toList();
    return reducers.stream()
        .map(
            reducer -> {
              byte[] noise = new byte[plan.blockBytes()];
              random.nextBytes(noise);
              return new Tuple2<>(reducer, noise);
            })
        .iterator();
  }

  private static Iterator<Long> sum(Iterator<Tuple2<Integer, byte[]>> fetched) {
    List<Long> sums = new ArrayList<>();
    CRC32C checksum = new CRC32C();
    while (fetched.hasNext()) {
      checksum.reset();
      checksum.update(fetched.next()._2);
      sums.add(checksum.getValue());
    }
    return List.of(sums.stream().mapToLong(Long::longValue).sum()).iterator();
  }
}
