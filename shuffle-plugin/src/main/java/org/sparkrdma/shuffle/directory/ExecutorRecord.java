// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.List;
import java.util.Optional;

/**
 * What an executor publishes about itself: its endpoint, or that it does not use RDMA and why.
 *
 * @param executorId Spark's id of the executor
 * @param publisher random number of the process that publishes
 * @param epoch counts what this process has published; a lower one has come late and is refused
 * @param endpoint where peers connect; empty when the executor does not use RDMA, or not any more
 * @param reasons why the endpoint is empty
 */
record ExecutorRecord(
    String executorId,
    long publisher,
    long epoch,
    Optional<Endpoint> endpoint,
    List<String> reasons) {

  ExecutorRecord {
    reasons = List.copyOf(reasons);
  }

  static ExecutorRecord available(Endpoint endpoint, long publisher, long epoch) {
    return new ExecutorRecord(
        endpoint.executorId(), publisher, epoch, Optional.of(endpoint), List.of());
  }

  static ExecutorRecord unavailable(
      String executorId, List<String> reasons, long publisher, long epoch) {
    return new ExecutorRecord(executorId, publisher, epoch, Optional.empty(), reasons);
  }
}
