// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import org.apache.spark.network.buffer.ManagedBuffer;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * Takes the results of {@link BlockTransport#fetch}: for each block exactly one call, from the
 * transport's delivery threads, in any order and at the same time for different blocks.
 */
public interface FetchHandler {
  /** Reader of requests that belong to no task. */
  long NO_READER = -1;

  /** The task that reads the blocks; all requests of a task share its part of receive memory. */
  default long reader() {
    return NO_READER;
  }

  /**
   * A block has come, whole and, where asked for, verified.
   *
   * @param index of the block in the request
   * @param buffer its bytes; the transport releases its own reference after the call, so whoever
   *     keeps it retains it
   */
  void onFetched(int index, ManagedBuffer buffer);

  /**
   * A block did not come by RDMA and will not; it is to be fetched by TCP.
   *
   * @param detail a few words for a log, without secrets; not null
   */
  void onFailed(int index, FallbackReason reason, String detail);

  /**
   * A block has come whose recorded checksum does not match; it is to be fetched by TCP, and
   * compared.
   *
   * @param suspect to be told what TCP brought
   */
  void onSuspect(int index, SuspectBlock suspect);
}
