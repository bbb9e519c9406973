// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.launch.MeasuredApplication;

/**
 * Input of the application, as JSON.
 *
 * @param seconds time during which it starts jobs
 * @param seed seed of all jobs and their sizes
 * @param jobs jobs to choose from
 * @param executors number of executors with one core each
 */
public record SoakPlan(long seconds, long seed, List<SoakJob> jobs, int executors)
    implements MeasuredApplication.Plan {

  /**
   * Result of the application, as JSON.
   *
   * @param jobs number of jobs with the right answer, by name
   * @param counters last counters of the plug-in in each executor that was seen, by executor
   * @param objection the job that failed or gave a wrong answer, in one sentence; null if there was
   *     none
   */
  public record Result(
      Map<String, Integer> jobs, Map<String, Map<String, Long>> counters, String objection) {}

  @Override
  public Result measure() {
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("soak"))) {
      return new SoakApplication(spark, this).run();
    }
  }
}
