// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sparkrdma.cluster.ClusterException;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.LaunchException;
import org.sparkrdma.launch.MeasuringRuns;

/**
 * Runs the applications of one benchmark, one for each kind of verification, one after the other.
 * Confined to its thread.
 *
 * @param pinned the plug-in's budget of pinned memory in each executor
 * @param flightRecordings directory for recordings of the executors, null for none
 */
record TransferRuns(MeasuringRuns runs, TransferPlan plan, DataSize pinned, Path flightRecordings) {
  private static final String ENGINE = "soft";

  List<CaseReport> measure(VerifyMode verify)
      throws ClusterException, LaunchException, IOException, InterruptedException {
    String name = "verify-" + verify;
    TransferResult result =
        runs.run(name, TransferApplication.class, plan, conf(verify), TransferResult.class);
    if (result.objection() != null) {
      throw new LaunchException(name + ": " + result.objection());
    }
    return CaseReport.all(ENGINE, verify, plan, result);
  }

  private Map<String, String> conf(VerifyMode verify) {
    Map<String, String> conf = new HashMap<>(verify.conf());
    // A round that fails ends the benchmark without a retry.
    conf.put("spark.task.maxFailures", "1");
    conf.put("spark.stage.maxConsecutiveAttempts", "1");
    conf.put("spark.shuffle.manager", "org.sparkrdma.shuffle.RdmaShuffleManager");
    conf.put("spark.shuffle.rdma.mode", "required");
    conf.put("spark.shuffle.rdma.engine", ENGINE);
    conf.put("spark.shuffle.rdma.fabric.trusted", "true");
    conf.put("spark.shuffle.rdma.pinned.max", Long.toString(pinned.bytes()));
    if (flightRecordings != null) {
      conf.put(
          "spark.executor.extraJavaOptions",
          "-XX:StartFlightRecording:filename=" + flightRecordings + ",settings=profile");
    }
    return conf;
  }
}
