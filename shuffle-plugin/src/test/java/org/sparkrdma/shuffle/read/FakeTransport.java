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
