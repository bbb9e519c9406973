// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** A shuffle of incompressible noise; every byte affects the result. */
final class Blocks {
  private static final int MAPS = 12;
  private static final int REDUCERS = 12;
  private static final int RECORDS = 16;
  private static final int RECORD_BYTES = 8 << 10;

  private Blocks() {}

  /** One line per reducer: the number of records and a sum over their contents. */
  static String shuffle(JavaSparkContext spark) {
    return String.join("\n", shuffle(spark, REDUCERS));
  }

  /** The same records with one reducer, so that one executor reads. */
  static String shuffleToOneReader(JavaSparkContext spark) {
    return String.join("\n", shuffle(spark, 1));
  }

  /** The result with one reducer, computed from that of {@link #shuffle(JavaSparkContext)}. */
  static String ofOneReader(String lines) {
    long count = 0;
    long sum = 0;
    for (String line : lines.split("\n", -1)) {
      String[] numbers = line.split(" ", 2);
      count += Long.parseLong(numbers[0]);
      sum += Long.parseLong(numbers[1]);
    }
    return count + " " + sum;
  }

  private static List<String> shuffle(JavaSparkContext spark, int reducers) {
    return spark
        .parallelize(IntStream.range(0, MAPS).boxed().toList(), MAPS)
        .flatMapToPair(map -> records(map).iterator())
        .partitionBy(new HashPartitioner(reducers))
        .mapPartitions(
            records -> {
              long sum = 0;
              int count = 0;
              CRC32 crc = new CRC32();
              while (records.hasNext()) {
                crc.reset();
                crc.update(records.next()._2);
                sum += crc.getValue();
                count++;
              }
              return List.of(count + " " + sum).iterator();
            })
        .collect();
  }

  private static List<Tuple2<Integer, byte[]>> records(int map) {
    Random random = new Random(map);
    List<Tuple2<Integer, byte[]>> records = new ArrayList<>();
    for (int reducer = 0; reducer < REDUCERS; reducer++) {
      for (int i = 0; i < RECORDS; i++) {
        byte[] bytes = new byte[RECORD_BYTES];
        random.nextBytes(bytes);
        records.add(new Tuple2<>(reducer, bytes));
      }
    }
    return records;
  }
}
