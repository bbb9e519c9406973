// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import java.util.stream.IntStream;
import org.apache.hadoop.examples.terasort.TeraOutputFormat;
import org.apache.hadoop.io.Text;
import org.apache.spark.api.java.JavaSparkContext;

/** Writes the input of the sort: {@code records} records in {@code files} files of equal length. */
public final class TeraGen {
  private TeraGen() {}

  /** Returns when the files are written. */
  public static void write(JavaSparkContext spark, String directory, long records, int files) {
    spark
        .parallelize(IntStream.range(0, files).boxed().toList(), files)
        .mapPartitionsToPair(
            numbers -> {
              int file = numbers.next();
              return new TeraRecords(
                  firstRow(file, records, files), firstRow(file + 1, records, files));
            })
        .saveAsNewAPIHadoopFile(
            directory, Text.class, Text.class, TeraOutputFormat.class, spark.hadoopConfiguration());
  }

  private static long firstRow(int file, long records, int files) {
    return records / files * file + Math.min(file, records % files);
  }
}
