// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
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
        runs.run(
            name,
            TransferApplication.class,
            plan,
            TransferConf.of(ENGINE, verify, pinned, flightRecordings),
            TransferResult.class);
    return CaseReport.all(ENGINE, verify, plan, result);
  }
}
