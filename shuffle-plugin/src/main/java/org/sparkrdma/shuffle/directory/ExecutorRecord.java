// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.List;
import java.util.Optional;

/**
 * The published record of an executor: its endpoint, or the reasons why it does not use RDMA.
 *
 * @param executorId Spark's id of the executor
 * @param publisher random number of the process that publishes
 * @param epoch counts the records of this process; a lower one is late and refused
 * @param endpoint address for peers; empty when the executor does not use RDMA, or not any more
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

  /** The same executor, whose endpoint is not for others any more. */
  ExecutorRecord withoutEndpoint() {
    return unavailable(executorId, reasons, publisher, epoch);
  }
}
