// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import org.apache.spark.api.java.JavaSparkContext;

/** A job in one shape. Stateless, because it runs many times under different shuffles. */
public interface Workload {
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
