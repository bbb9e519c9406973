// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.sparkrdma.cluster.ClusterException;
import org.sparkrdma.launch.LaunchException;
import org.sparkrdma.launch.MeasuringRuns;
import org.sparkrdma.launch.ProgressLine;

/** A benchmark on a cluster of this machine, by RDMA READ on the loopback engine. Stateless. */
public final class LaunchedRuns {
  private LaunchedRuns() {}

  /**
   * Runs the plan to its end.
   *
   * @param size of each executor; the cluster's Workers have the same
   * @param onStep is given each step of the application, on a thread of its own
   */
  public static BenchmarkReport run(
      BenchmarkPlan plan, MeasuringRuns runs, ExecutorSize size, Consumer<ProgressLine> onStep)
      throws LaunchException, ClusterException, IOException, InterruptedException {
    Map<String, String> conf = new HashMap<>(size.conf());
    // The loopback engine, because all executors are on one host.
    conf.put("spark.shuffle.rdma.engine", "soft");
    return runs.run(
            plan.job().toString(),
            LaunchedBenchmark.class,
            plan.withData("file:" + runs.directory().data()),
            conf,
            BenchmarkReport.class,
            onStep)
        .withoutData();
  }
}
