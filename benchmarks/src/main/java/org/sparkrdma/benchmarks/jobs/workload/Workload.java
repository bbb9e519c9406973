// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.workload;

import org.apache.spark.api.java.JavaSparkContext;

/** A job in one shape. Stateless, because it runs many times under different shuffles. */
public interface Workload {
  /** Number and length of the blocks, or number of rows, for the report. */
  String description();

  /** Disk space that one run needs for shuffle files and output, in bytes. */
  long diskBytes();

  /** Minimum number of tasks of the Spark job with the shuffle, writing and reading ones. */
  int tasks();

  /**
   * Writes the input, if the job reads any from files. Called once, under Spark's own shuffle.
   *
   * @param data directory for input and output, as Hadoop names it
   */
  default void prepare(JavaSparkContext spark, String data) {}

  /**
   * Runs the job; the time until this method returns is measured.
   *
   * @return computes the answer, outside the measured time
   */
  PendingAnswer run(JavaSparkContext spark, String data);
}
