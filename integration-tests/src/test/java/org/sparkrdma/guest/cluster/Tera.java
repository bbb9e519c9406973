// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest.cluster;

import java.nio.file.Path;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.benchmarks.jobs.TeraSort;
import org.sparkrdma.benchmarks.jobs.TeraValidate;

/** A TeraSort that is small enough for a kernel with one processor. */
final class Tera {
  private static final int PARTITIONS = 4;
  private static final long RECORDS = 200_000;

  private Tera() {}

  /** Writes the input into a new directory. */
  static void generate(JavaSparkContext spark, Path input) {
    TeraSort.write(spark, uri(input), RECORDS, PARTITIONS);
  }

  /** Sorts one directory into a new one and returns a summary. */
  static String sort(JavaSparkContext spark, Path input, Path output) throws Exception {
    // The scheduler of the input format is for clusters with data on their disks.
    spark.hadoopConfiguration().setBoolean("mapreduce.terasort.use.terascheduler", false);
    TeraSort.sort(spark, uri(input), uri(output), PARTITIONS);
    TeraValidate.Summary summary = TeraValidate.summarize(spark, uri(output));
    return summary.records() + " " + summary.checksum() + " " + summary.disorder();
  }

  private static String uri(Path directory) {
    return "file:" + directory;
  }
}
