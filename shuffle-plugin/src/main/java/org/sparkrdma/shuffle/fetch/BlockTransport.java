// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import org.sparkrdma.shuffle.metrics.FallbackReason;

/** Fetches blocks by RDMA READ. Safe for any thread; never blocks and never throws. */
public interface BlockTransport {
  /** Stands for RDMA that is not used. */
  BlockTransport UNAVAILABLE =
      request -> request.leaveRestToTcp(FallbackReason.UNAVAILABLE, "RDMA is not up");

  /** Fetches the blocks of a request, which gets exactly one result for each block. */
  void fetch(FetchRequest request);

  /** All blocks of a request have a result. */
  default void onSettled(FetchRequest request) {}

  /** READs of a request brought other bytes than TCP: their connection ends. */
  default void onCorruptData(FetchRequest request) {}
}
