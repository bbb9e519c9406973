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
package org.sparkrdma.shuffle;

import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockTransport;

/**
 * A transport that serves and fetches. Safe for any thread; owned by the {@link RdmaRuntime}, which
 * closes it once.
 */
interface RunningTransport extends AutoCloseable {
  /** Fetches blocks of peers. */
  BlockTransport transport();

  /** Where peers find this executor. */
  Endpoint endpoint();

  /** The shuffle is gone: gives back what was registered of its files, soon. Must not block. */
  void unregisterShuffle(int shuffleId);

  /** Answers what is open with STOPPED, ends all connections and gives everything back. */
  @Override
  void close();
}
