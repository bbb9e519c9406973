// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.nio.file.Path;

/** One of the cluster's processes and the file its log goes to. Safe for any thread. */
public record ClusterProcess(Process process, Path log) {
  /** Asks the system, because {@link Process} is informed of the end by a thread, later. */
  boolean isAlive() {
    return process.toHandle().isAlive();
  }
}
