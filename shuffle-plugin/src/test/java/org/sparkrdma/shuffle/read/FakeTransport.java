// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.fetch.FetchHandler;

/** Keeps requests for the test to answer. */
final class FakeTransport implements BlockTransport {
  /** One request. */
  record Request(
      Endpoint peer, List<BlockRange> blocks, DownloadFileManager files, FetchHandler handler) {}

  final List<Request> requests = new ArrayList<>();
  Throwable thrown;

  @Override
  public synchronized void fetch(
      Endpoint peer, List<BlockRange> blocks, DownloadFileManager files, FetchHandler handler) {
    if (thrown != null) {
      FakeTransport.<RuntimeException>sneakyThrow(thrown);
    }
    requests.add(new Request(peer, blocks, files, handler));
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> void sneakyThrow(Throwable thrown) throws T {
    throw (T) thrown;
  }
}
