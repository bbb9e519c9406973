/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.fetch;

import java.util.List;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.sparkrdma.shuffle.directory.Endpoint;

/** Fetches blocks by RDMA READ. Safe for any thread; never blocks and never throws. */
public interface BlockTransport {
  /**
   * Fetches blocks of one peer.
   *
   * @param blocks at least one; not changed by the caller afterwards
   * @param files where to put the blocks when they are to go to disk; null for memory
   * @param handler told of each block exactly once, also when the transport is closed
   */
  void fetch(
      Endpoint peer, List<BlockRange> blocks, DownloadFileManager files, FetchHandler handler);
}
