// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.examples.terasort.TeraInputFormat;
import org.apache.hadoop.examples.terasort.TeraOutputFormat;
import org.apache.hadoop.io.Text;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** Sorts a directory of records into another: sample the keys, shuffle by range, sort, write. */
public final class TeraSort {
  private static final int MAX_SAMPLES = 100_000;
  private static final int SAMPLES_PER_PARTITION = 1_000;

  private TeraSort() {}

  /** Returns when the output is written. */
  public static void sort(JavaSparkContext spark, String input, String output, int partitions) {
    JavaPairRDD<byte[], byte[]> records =
        spark
            .newAPIHadoopFile(
                input, TeraInputFormat.class, Text.class, Text.class, spark.hadoopConfiguration())
            .mapToPair(pair -> new Tuple2<>(pair._1.copyBytes(), pair._2.copyBytes()));
    RangePartitions ranges = RangePartitions.cut(sampleKeys(records, partitions), partitions);
    records
        .repartitionAndSortWithinPartitions(ranges, KeyOrder.UNSIGNED_BYTES)
        .mapToPair(pair -> new Tuple2<>(new Text(pair._1), new Text(pair._2)))
        .saveAsNewAPIHadoopFile(
            output, Text.class, Text.class, TeraOutputFormat.class, spark.hadoopConfiguration());
  }

  /** The first keys of every split, as Hadoop's own TeraSort samples. */
  private static List<byte[]> sampleKeys(JavaPairRDD<byte[], byte[]> records, int partitions) {
    long wanted = Math.min(MAX_SAMPLES, (long) SAMPLES_PER_PARTITION * partitions);
    int perSplit = (int) Math.max(1, wanted / Math.max(1, records.getNumPartitions()));
    return records.keys().mapPartitions(keys -> first(keys, perSplit)).collect();
  }

  private static Iterator<byte[]> first(Iterator<byte[]> keys, int count) {
    List<byte[]> taken = new ArrayList<>(count);
    while (taken.size() < count && keys.hasNext()) {
      taken.add(keys.next());
    }
    return taken.iterator();
  }
}
