// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;

/**
 * A pod whose process has ended.
 *
 * @param pod as Spark created it
 * @param deleted whether it was deleted before its process ended
 * @param log standard output and error
 */
record EndedPod(Pod pod, int exitCode, boolean deleted, String log) {
  /** Exit code of a JVM after SIGTERM. */
  static final int TERMINATED = 143;

  String executorId() {
    return LocalPod.executorId(pod);
  }

  Container container() {
    return pod.getSpec().getContainers().get(0);
  }
}
