// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.function.Supplier;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.DownloadFileManager;

/** A request for blocks by TCP, which is issued once. Safe for any thread. */
final class TcpRequest {
  private final PeerAddress peer;
  private final int stage;
  private final Supplier<String[]> blocks;
  private final BlockFetchingListener listener;
  private final DownloadFileManager files;
  private boolean issued;

  /**
   * @param stage whose task reads, as in {@link org.sparkrdma.shuffle.metrics.StageReads}
   * @param blocks called once, when the request is issued; returns the blocks to fetch, maybe none;
   *     must not throw
   * @param files for blocks that are too large for memory; null for memory
   */
  TcpRequest(
      PeerAddress peer,
      int stage,
      Supplier<String[]> blocks,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    this.peer = peer;
    this.stage = stage;
    this.blocks = blocks;
    this.listener = listener;
    this.files = files;
  }

  /** Begins to issue it; false when that was done before. */
  synchronized boolean begin() {
    boolean first = !issued;
    issued = true;
    return first;
  }

  PeerAddress peer() {
    return peer;
  }

  int stage() {
    return stage;
  }

  Supplier<String[]> blocks() {
    return blocks;
  }

  BlockFetchingListener listener() {
    return listener;
  }

  DownloadFileManager files() {
    return files;
  }
}
