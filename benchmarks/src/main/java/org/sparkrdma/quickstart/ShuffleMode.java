// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.quickstart;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;
import java.util.Map;

/** The shuffles that are compared; they differ in these settings and in nothing else. */
enum ShuffleMode {
  /** Spark without the plug-in. */
  VANILLA,
  /** The plug-in on the loopback engine. */
  RDMA,
  /** The plug-in as installed, on a machine without RDMA: every block goes by TCP. */
  FALLBACK;

  private static final String MANAGER_KEY = "spark.shuffle.manager";
  private static final String PLUG_IN = "org.sparkrdma.shuffle.RdmaShuffleManager";

  Map<String, String> conf() {
    return switch (this) {
      case VANILLA -> Map.of(MANAGER_KEY, "sort");
      case RDMA -> Map.of(MANAGER_KEY, PLUG_IN, "spark.shuffle.rdma.engine", "soft");
      case FALLBACK -> Map.of(MANAGER_KEY, PLUG_IN);
    };
  }

  /** As it stands in options, progress, table and report. */
  @JsonValue
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
