// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.concurrent.Callable;
import org.apache.spark.api.java.JavaSparkContext;

/** One job of one shape. Stateless: it is run many times, under different shuffles. */
public interface Workload {
  /** What the shape means, for the report: how many blocks of which length, or how many rows. */
  String description();

  /** Disk space that one run needs for shuffle files and output, in bytes. */
  long diskBytes();

  /** Tasks of the Spark job with the shuffle, those that write and those that read; at least. */
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
   * @return computes the answer, where the job itself has not; this is not measured
   */
  Callable<Answer> run(JavaSparkContext spark, String data);
}
