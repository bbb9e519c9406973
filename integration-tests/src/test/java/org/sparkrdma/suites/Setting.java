// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.sparkrdma.scenarios.LongTimeouts;

/**
 * The shuffle under which a suite runs, as system properties that every {@code SparkConf} reads.
 */
enum Setting {
  /**
   * Spark without the plug-in: shows whether a failure comes from the plug-in or from the machine.
   */
  VANILLA,
  /**
   * The loopback engine. An executor whose device does not open gets no tasks; its log fails the
   * run.
   */
  SOFT,
  /** Only the shuffle manager, on a machine without a device: every block uses TCP. */
  FALLBACK,
  /**
   * The loopback engine beside another shuffle manager: the plug-in replaces the client of its
   * readers.
   */
  PLUGIN,
  /** The suite configures its clusters itself. */
  OWN;

  private static final String MANAGER = "org.sparkrdma.shuffle.RdmaShuffleManager";
  private static final String RDMA = "spark.shuffle.rdma.";
  private static final String PLUGINS = "spark.plugins";

  /** Host-local reads are off: on one host they would leave no remote block. */
  Map<String, String> properties() {
    return switch (this) {
      case VANILLA -> managedBy("sort");
      case SOFT -> {
        Map<String, String> properties = softBy(MANAGER);
        properties.put(RDMA + "mode", "required");
        yield properties;
      }
      case PLUGIN -> {
        Map<String, String> properties = softBy("org.sparkrdma.scenarios.StubManager");
        properties.put(PLUGINS, "org.sparkrdma.shuffle.RdmaPlugin," + ReadCounts.WITH_CHECKS);
        yield properties;
      }
      case FALLBACK -> managedBy(MANAGER);
      case OWN -> Map.of();
    };
  }

  /** Whether executors fetch remote blocks by RDMA. */
  boolean byRdma() {
    return this == SOFT || this == PLUGIN;
  }

  private static Map<String, String> softBy(String manager) {
    Map<String, String> properties = managedBy(manager);
    properties.put(RDMA + "engine", "soft");
    properties.putAll(LongTimeouts.SETTINGS);
    return properties;
  }

  private static Map<String, String> managedBy(String manager) {
    Map<String, String> properties = new TreeMap<>();
    properties.put("spark.shuffle.manager", manager);
    properties.put("spark.shuffle.readHostLocalDisk", "false");
    properties.put(PLUGINS, ReadCounts.WITH_CHECKS);
    // A test of decommissioning waits for it twice; Spark's default is 30 s.
    properties.put("spark.storage.decommission.replicationReattemptInterval", "1s");
    return properties;
  }

  /** The name on the command line and in the table. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
