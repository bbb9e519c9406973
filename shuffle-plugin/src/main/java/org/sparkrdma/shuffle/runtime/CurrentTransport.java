// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.util.List;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.fetch.FetchHandler;

/**
 * The transport that was started last: readers keep this one while the device is lost and comes
 * back. A closed transport answers every block itself; before the first one is started this does.
 * Safe for any thread.
 */
final class CurrentTransport implements BlockTransport {
  private volatile BlockTransport current = BlockTransport.UNAVAILABLE;

  /** New requests go to this one. */
  void set(BlockTransport started) {
    current = started;
  }

  @Override
  public void fetch(
      Endpoint peer, List<BlockRange> blocks, DownloadFileManager files, FetchHandler handler) {
    current.fetch(peer, blocks, files, handler);
  }
}
