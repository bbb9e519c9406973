// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak.jobs;

import java.util.Arrays;
import java.util.Iterator;
import java.util.Optional;
import java.util.stream.LongStream;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * A shuffle in which every map output has a block of the same length for every reducer.
 *
 * @param records number of records in each block
 * @param recordBytes random bytes in each record
 */
record UniformBlocks(int maps, int reducers, int records, int recordBytes, long seed)
    implements java.io.Serializable {

  /** Shuffles the blocks and compares every byte. */
  Optional<String> compare(JavaSparkContext spark) {
    return KnownData.compare(
        KnownData.numbers(spark, maps, maps)
            .flatMapToPair(this::ofMap)
            .partitionBy(new NumberedPartitioner(reducers))
            .map(this::judge),
        (long) maps * reducers * records);
  }

  /** Records of one map task. The reducer of a record is the remainder of its number. */
  private Iterator<Tuple2<Integer, Tuple2<Long, byte[]>>> ofMap(long map) {
    long perMap = (long) reducers * records;
    return LongStream.range(map * perMap, (map + 1) * perMap)
        .mapToObj(
            number ->
                new Tuple2<>(
                    (int) (number % reducers),
                    new Tuple2<>(number, KnownData.bytes(seed, number, recordBytes))))
        .iterator();
  }

  private Tuple2<Long, Long> judge(Tuple2<Integer, Tuple2<Long, byte[]>> record) {
    long number = record._2._1;
    boolean right =
        number % reducers == record._1
            && Arrays.equals(record._2._2, KnownData.bytes(seed, number, recordBytes));
    return new Tuple2<>(right ? 1L : 0L, right ? 0L : 1L);
  }
}
