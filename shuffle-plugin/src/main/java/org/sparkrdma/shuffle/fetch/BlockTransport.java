// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.List;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/** Fetches blocks by RDMA READ. Safe for any thread; never blocks and never throws. */
public interface BlockTransport {
  /** Stands for RDMA that is not used. */
  BlockTransport UNAVAILABLE =
      (peer, blocks, files, handler) -> {
        for (int i = 0; i < blocks.size(); i++) {
          handler.onFailed(i, FallbackReason.UNAVAILABLE, "RDMA is not up");
        }
      };

  /**
   * Fetches blocks of one peer.
   *
   * @param blocks at least one; not changed by the caller afterwards
   * @param files for blocks that are written to disk; null for memory
   * @param handler receives exactly one result for each block, also when the transport is closed
   */
  void fetch(
      Endpoint peer, List<BlockRange> blocks, DownloadFileManager files, FetchHandler handler);
}
