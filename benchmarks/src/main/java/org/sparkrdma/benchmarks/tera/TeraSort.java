// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Comparator;
import org.apache.hadoop.examples.terasort.TeraInputFormat;
import org.apache.hadoop.examples.terasort.TeraOutputFormat;
import org.apache.hadoop.io.Text;
import org.apache.spark.Partitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** Sorts a directory of records into another: shuffle by range, sort, write. */
public final class TeraSort {
  /** Keys in the order of their unsigned bytes; serialized to executors with the tasks. */
  private static final Comparator<byte[]> UNSIGNED_BYTES =
      (Comparator<byte[]> & Serializable) Arrays::compareUnsigned;

  private TeraSort() {}

  /** Returns when the output is written. */
  public static void sort(JavaSparkContext spark, String input, String output, int partitions) {
    JavaPairRDD<byte[], byte[]> records =
        spark
            .newAPIHadoopFile(
                input, TeraInputFormat.class, Text.class, Text.class, spark.hadoopConfiguration())
            .mapToPair(pair -> new Tuple2<>(pair._1.copyBytes(), pair._2.copyBytes()));
    records
        .repartitionAndSortWithinPartitions(new RangePartitions(partitions), UNSIGNED_BYTES)
        .mapToPair(pair -> new Tuple2<>(new Text(pair._1), new Text(pair._2)))
        .saveAsNewAPIHadoopFile(
            output, Text.class, Text.class, TeraOutputFormat.class, spark.hadoopConfiguration());
  }

  /**
   * Sends each key to the partition of its range, so that partitions follow each other in key
   * order. The ranges are equal, because the keys that {@link TeraGen.TeraRecords} generates are
   * uniform.
   */
  private static final class RangePartitions extends Partitioner {
    private static final long serialVersionUID = 1L;

    private final int partitions;

    RangePartitions(int partitions) {
      this.partitions = partitions;
    }

    @Override
    public int numPartitions() {
      return partitions;
    }

    @Override
    public int getPartition(Object key) {
      long prefix = Integer.toUnsignedLong(ByteBuffer.wrap((byte[]) key).getInt());
      return (int) ((prefix * partitions) >>> Integer.SIZE);
    }
  }
}
