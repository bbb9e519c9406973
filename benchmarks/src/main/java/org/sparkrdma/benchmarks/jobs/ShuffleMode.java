// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;
import java.util.Map;

/** A shuffle to compare; the shuffles differ in these settings only. */
public enum ShuffleMode {
  /** Spark without the plug-in, with its defaults. */
  VANILLA,
  /** {@link #VANILLA} once more: its ratio shows how much two equal shuffles differ. */
  CONTROL,
  /** Spark without the plug-in, with more connections, Netty threads and bytes in flight. */
  TUNED,
  /** The plug-in with the engine and device that the other settings choose. */
  RDMA,
  /** The plug-in where no device can be used: every block goes by TCP. */
  FALLBACK;

  private static final String MANAGER = "spark.shuffle.manager";
  private static final String PLUG_IN = "org.sparkrdma.shuffle.RdmaShuffleManager";

  /** No device has this name, so that the start of RDMA fails as on a machine without a device. */
  private static final String NO_DEVICE = "none-for-benchmark";

  private static final String MODE = "spark.shuffle.rdma.mode";
  private static final String NO_LIMIT = Integer.toString(Integer.MAX_VALUE);

  public Map<String, String> conf() {
    return switch (this) {
      // Beside the manager "sort" a plug-in of the user's settings would read by RDMA.
      case VANILLA, CONTROL -> Map.of(MANAGER, "sort", MODE, "off");
      case TUNED -> tuned();
      case RDMA -> Map.of(MANAGER, PLUG_IN);
      case FALLBACK ->
          Map.of(
              MANAGER,
              PLUG_IN,
              // With the user's "required" no task would run.
              MODE,
              "auto",
              "spark.shuffle.rdma.engine",
              "ibverbs",
              "spark.shuffle.rdma.device",
              NO_DEVICE);
    };
  }

  /**
   * More of each than Spark's defaults: 1 connection, as many threads as the executor has cores but
   * at most 8 (without more, several connections share one), 48 MiB. Requests and blocks have no
   * limit by default; the user's settings may have one.
   */
  private static Map<String, String> tuned() {
    return Map.of(
        MANAGER,
        "sort",
        MODE,
        "off",
        "spark.shuffle.io.numConnectionsPerPeer",
        "4",
        "spark.shuffle.io.serverThreads",
        "16",
        "spark.shuffle.io.clientThreads",
        "16",
        "spark.reducer.maxSizeInFlight",
        "96m",
        "spark.reducer.maxReqsInFlight",
        NO_LIMIT,
        "spark.reducer.maxBlocksInFlightPerAddress",
        NO_LIMIT);
  }

  /** The name in options, progress, table and report. */
  @JsonValue
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
