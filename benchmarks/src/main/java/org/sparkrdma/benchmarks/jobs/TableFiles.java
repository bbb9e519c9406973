// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.SparkSession;

/**
 * The tables of a suite as Parquet files, generated on the executors.
 *
 * @param directory of all tables, as Hadoop names it
 */
record TableFiles(QuerySuite suite, String directory) {

  /** Writes the tables unless they are there; a directory with this name is complete. */
  void write(JavaSparkContext spark, double scale, int partitions) {
    try {
      Path complete = new Path(directory);
      FileSystem files = complete.getFileSystem(spark.hadoopConfiguration());
      if (files.exists(complete)) {
        return;
      }
      String incomplete = directory + ".incomplete";
      files.delete(new Path(incomplete), true);
      for (String table : suite.generator().tables()) {
        write(spark, table, scale, partitions, incomplete);
      }
      if (!files.rename(new Path(incomplete), complete)) {
        throw new IOException("cannot rename " + incomplete + " to " + directory);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write the tables to " + directory, e);
    }
  }

  private void write(
      JavaSparkContext spark, String table, double scale, int partitions, String parent) {
    QuerySuite ofTable = suite;
    int parts = ofTable.generator().isSmall(table) ? 1 : partitions;
    List<Integer> numbers = IntStream.rangeClosed(1, parts).boxed().toList();
    JavaRDD<String> lines =
        spark
            .parallelize(numbers, parts)
            .flatMap(part -> ofTable.generator().lines(table, scale, part, parts));
    SparkSession session = SparkSession.builder().getOrCreate();
    session
        .read()
        .schema(ofTable.generator().schema(table))
        .option("sep", "|")
        .option("quote", "")
        .csv(session.createDataset(lines.rdd(), Encoders.STRING()))
        .write()
        .parquet(parent + "/" + table);
  }

  /** Makes the tables known to the session of this application. */
  void register(SparkSession session) {
    for (String table : suite.generator().tables()) {
      session.read().parquet(directory + "/" + table).createOrReplaceTempView(table);
    }
  }
}
