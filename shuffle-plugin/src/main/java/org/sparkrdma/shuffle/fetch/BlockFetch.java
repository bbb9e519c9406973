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

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.sparkrdma.shuffle.directory.Endpoint;

/** One call of {@link BlockTransport#fetch}. */
public final class BlockFetch {
  private final Endpoint peer;
  private final DownloadFileManager files;
  private final FetchHandler handler;
  private final List<BlockProgress> blocks;

  public BlockFetch(
      Endpoint peer, List<BlockRange> ranges, DownloadFileManager files, FetchHandler handler) {
    this.peer = peer;
    this.files = files;
    this.handler = handler;
    this.blocks = new ArrayList<>(ranges.size());
    for (int i = 0; i < ranges.size(); i++) {
      blocks.add(new BlockProgress(this, i, ranges.get(i)));
    }
  }

  public Endpoint peer() {
    return peer;
  }

  /** Where blocks go that are to be written to disk; null for memory. */
  DownloadFileManager files() {
    return files;
  }

  FetchHandler handler() {
    return handler;
  }

  public List<BlockProgress> blocks() {
    return blocks;
  }
}
