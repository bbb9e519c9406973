// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.sparkrdma.launch.DataSize;

/** Settings of an application that fetches by both clients. */
public final class TransferConf {
  private TransferConf() {}

  /**
   * @param engine of the plug-in
   * @param pinned limit of pinned memory
   * @param flightRecordings directory for recordings of the executors, null for none
   */
  public static Map<String, String> of(
      String engine, VerifyMode verify, DataSize pinned, Path flightRecordings) {
    Map<String, String> conf = new HashMap<>(verify.conf());
    // A round that fails ends the benchmark without a retry.
    conf.put("spark.task.maxFailures", "1");
    conf.put("spark.stage.maxConsecutiveAttempts", "1");
    conf.put("spark.shuffle.manager", "org.sparkrdma.shuffle.RdmaShuffleManager");
    conf.put("spark.shuffle.rdma.mode", "required");
    conf.put("spark.shuffle.rdma.engine", engine);
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
