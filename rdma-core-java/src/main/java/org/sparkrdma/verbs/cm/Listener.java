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
package org.sparkrdma.verbs.cm;

import java.net.InetSocketAddress;

/** Accepts connection requests until closed, by the thread that owns its connection manager. */
public interface Listener extends AutoCloseable {
  /** Its address, with the port that was chosen. */
  InetSocketAddress address();

  /** Stops listening; requests that were not polled are dropped. A second close does nothing. */
  @Override
  void close();
}
