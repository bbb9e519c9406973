// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import org.apache.spark.network.buffer.ManagedBuffer;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * Receives the results of {@link BlockTransport#fetch}: exactly one call for each block, on the
 * transport's delivery threads, in any order and concurrently for different blocks. When a call
 * throws, {@link #onFailed} follows for the same block; a handler that has answered it ignores
 * that.
 */
public interface FetchHandler {
  /** Reader of requests that belong to no task. */
  long NO_READER = -1;

  /** The task that reads the blocks; all requests of a task share its part of receive memory. */
  default long reader() {
    return NO_READER;
  }

  /**
   * A whole block was fetched and, if enabled, verified.
   *
   * @param index of the block in the request
   * @param buffer its bytes; the transport releases its own reference after the call, so the
   *     handler must retain a buffer that it keeps
   */
  void onFetched(int index, ManagedBuffer buffer);

  /**
   * As {@link #onFetched(int, ManagedBuffer)}, which it calls unless it is overridden.
   *
   * @param copiedBytes of the block, bytes that the peer served from its copy pool
   */
  default void onFetched(int index, ManagedBuffer buffer, long copiedBytes) {
    onFetched(index, buffer);
  }

  /**
   * A block cannot be fetched by RDMA and must be fetched by TCP.
   *
   * @param detail a few words for a log, without secrets; not null
   */
  void onFailed(int index, FallbackReason reason, String detail);

  /**
   * The checksum of a fetched block does not match: it must be fetched by TCP and compared.
   *
   * @param suspect receives the TCP data
   */
  void onSuspect(int index, SuspectBlock suspect);
}
