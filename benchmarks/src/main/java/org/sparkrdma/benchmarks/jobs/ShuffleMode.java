// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;
import java.util.Map;

/** A shuffle to compare; the shuffles differ in these settings only. */
public enum ShuffleMode {
  /** Spark without the plug-in, with its defaults. */
  VANILLA,
  /** Spark without the plug-in, with more connections and more requests at once. */
  TUNED,
  /** The plug-in with the engine and device that the other settings choose. */
  RDMA,
  /** The plug-in where no device can be used: every block goes by TCP. */
  FALLBACK;

  private static final String MANAGER = "spark.shuffle.manager";
  private static final String PLUG_IN = "org.sparkrdma.shuffle.RdmaShuffleManager";

  /** No device has this name, so that the start of RDMA fails as on a machine without a device. */
  private static final String NO_DEVICE = "none-for-benchmark";

  Map<String, String> conf() {
    return switch (this) {
      case VANILLA -> Map.of(MANAGER, "sort");
      case TUNED ->
          Map.of(
              MANAGER,
              "sort",
              "spark.shuffle.io.numConnectionsPerPeer",
              "4",
              "spark.reducer.maxSizeInFlight",
              "96m",
              "spark.reducer.maxReqsInFlight",
              "256");
      case RDMA -> Map.of(MANAGER, PLUG_IN);
      case FALLBACK ->
          Map.of(
              MANAGER,
              PLUG_IN,
              "spark.shuffle.rdma.engine",
              "ibverbs",
              "spark.shuffle.rdma.device",
              NO_DEVICE);
    };
  }

  /** The name in options, progress, table and report. */
  @JsonValue
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
