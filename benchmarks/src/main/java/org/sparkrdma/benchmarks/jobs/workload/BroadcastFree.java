// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.workload;

import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.matrix.CustomerReport;

/**
 * The query of the version matrix on more rows: a sort-merge join (no table is broadcast), a
 * distinct count and two aggregations.
 */
public record BroadcastFree(int orders, int partitions) implements Workload {
  /**
   * @param shape such as {@code 1000000x64}: orders, partitions
   */
  public static BroadcastFree parse(String shape) {
    Shape parts = Shape.parse(shape, 2);
    return new BroadcastFree(parts.count(0, 100, 499_999_999), parts.count(1, 1, 100_000));
  }

  @Override
  public PendingAnswer run(JavaSparkContext spark, String data) {
    List<String> answer = CustomerReport.rows(orders, partitions);
    return () -> ComputedAnswer.ofRows(answer);
  }
}
