// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.recovery;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;
import java.util.Map;

/** A shuffle to compare; the shuffles differ in these settings only. */
enum ComparedShuffle {
  /** Spark without the plug-in. */
  VANILLA,
  /** The plug-in on the loopback engine. */
  RDMA;

  private static final String MANAGER_KEY = "spark.shuffle.manager";
  private static final String PLUG_IN = "org.sparkrdma.shuffle.RdmaShuffleManager";

  Map<String, String> conf() {
    return switch (this) {
      case VANILLA -> Map.of(MANAGER_KEY, "sort");
      case RDMA -> Map.of(MANAGER_KEY, PLUG_IN, "spark.shuffle.rdma.engine", "soft");
    };
  }

  /** The name in progress, table and report. */
  @JsonValue
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
