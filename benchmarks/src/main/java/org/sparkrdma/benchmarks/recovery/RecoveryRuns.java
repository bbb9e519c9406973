// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.recovery;

import java.io.IOException;
import org.sparkrdma.cluster.ClusterException;
import org.sparkrdma.launch.LaunchException;
import org.sparkrdma.launch.MeasuringRuns;

/** Runs the applications of one benchmark, one after the other. Confined to its thread. */
record RecoveryRuns(MeasuringRuns runs, RecoveryPlan plan) {

  /**
   * Runs one application under one shuffle.
   *
   * @param round from 1
   */
  RecoveryResult run(ComparedShuffle shuffle, int round)
      throws ClusterException, LaunchException, IOException, InterruptedException {
    String name = shuffle + "-" + round;
    RecoveryResult result =
        runs.run(name, RecoveryApplication.class, plan, shuffle.conf(), RecoveryResult.class);
    if ((shuffle == ComparedShuffle.RDMA) != (result.readBytes() > 0)) {
      throw new LaunchException(
          "the %s application read %d bytes by RDMA READ".formatted(name, result.readBytes()));
    }
    return result;
  }
}
