// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.nio.file.Path;

/** A program that starts a cluster of one Worker and then waits for its standard input to end. */
final class ClusterInOwnJvm {
  static final String UP = "cluster is up";

  private ClusterInOwnJvm() {}

  public static void main(String[] arguments) throws Exception {
    var settings =
        ClusterSettings.twoWorkers(Path.of(arguments[0]), Path.of(arguments[1])).withWorkers(1);
    try (StandaloneCluster cluster = StandaloneCluster.start(settings)) {
      System.out.println(UP + " at " + cluster.masterUrl());
      while (System.in.read() >= 0) {
        // Ends with the process that started this one.
      }
    }
  }
}
