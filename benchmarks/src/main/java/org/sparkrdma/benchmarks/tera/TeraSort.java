// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import org.apache.hadoop.examples.terasort.TeraInputFormat;
import org.apache.hadoop.examples.terasort.TeraOutputFormat;
import org.apache.hadoop.io.Text;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** Sorts a directory of records into another: shuffle by range, sort, write. */
public final class TeraSort {
  private TeraSort() {}

  /** Returns when the output is written. */
  public static void sort(JavaSparkContext spark, String input, String output, int partitions) {
    JavaPairRDD<byte[], byte[]> records =
        spark
            .newAPIHadoopFile(
                input, TeraInputFormat.class, Text.class, Text.class, spark.hadoopConfiguration())
            .mapToPair(pair -> new Tuple2<>(pair._1.copyBytes(), pair._2.copyBytes()));
    records
        .repartitionAndSortWithinPartitions(
            new RangePartitions(partitions), KeyOrder.UNSIGNED_BYTES)
        .mapToPair(pair -> new Tuple2<>(new Text(pair._1), new Text(pair._2)))
        .saveAsNewAPIHadoopFile(
            output, Text.class, Text.class, TeraOutputFormat.class, spark.hadoopConfiguration());
  }
}
