// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.sparkrdma.scenarios.PatientTimeouts;

/** Under which shuffle a suite runs, as system properties that every {@code SparkConf} picks up. */
enum Setting {
  /** Spark without the plug-in, to tell a fault of ours from one of the machine. */
  VANILLA,
  /** The loopback engine; an executor whose device does not open fails its tasks. */
  SOFT,
  /** Nothing but the manager, on a machine without a device: every block by TCP. */
  FALLBACK,
  /** The suite configures its clusters itself. */
  OWN;

  private static final String MANAGER = "org.sparkrdma.shuffle.RdmaShuffleManager";
  private static final String RDMA = "spark.shuffle.rdma.";

  /** Without host-local reads, which on one host would leave a transport nothing to do. */
  Map<String, String> properties() {
    return switch (this) {
      case VANILLA -> managedBy("sort");
      case SOFT -> {
        Map<String, String> properties = managedBy(MANAGER);
        properties.put(RDMA + "engine", "soft");
        properties.put(RDMA + "mode", "required");
        properties.putAll(PatientTimeouts.SETTINGS);
        yield properties;
      }
      case FALLBACK -> managedBy(MANAGER);
      case OWN -> Map.of();
    };
  }

  private static Map<String, String> managedBy(String manager) {
    Map<String, String> properties = new TreeMap<>();
    properties.put("spark.shuffle.manager", manager);
    properties.put("spark.shuffle.readHostLocalDisk", "false");
    properties.put("spark.plugins", ReadCounts.class.getName());
    return properties;
  }

  /** As given on the command line and shown in the table. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
