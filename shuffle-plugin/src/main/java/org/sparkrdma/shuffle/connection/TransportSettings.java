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
package org.sparkrdma.shuffle.connection;

import java.time.Duration;

/**
 * How peers are talked to.
 *
 * @param messageBytes length of a control message's buffer
 * @param locatesInFlight LOCATEs that one connection may have open, W
 * @param readsInFlight READs that one connection may have posted
 * @param chunkBytes length of the pieces that the receive pool is cut into, a power of two
 * @param poolBytes most receive memory
 * @param connectTimeout until a connection is made
 * @param requestTimeout from sending a LOCATE or posting READs to their end
 * @param peerTimeout of a peer's silence, while something of it is awaited, until it counts as dead
 * @param idleTimeout until a connection that nobody uses is closed
 * @param quarantine how long a peer is first left alone after a failure; doubles each time
 * @param maxQuarantine the longest that it is left alone
 * @param maxConnections most connections at once
 * @param deliveryThreads threads that verify, write to disk and hand over
 * @param verify whether checksums are compared
 * @param spin how long the agent polls before it sleeps
 */
public record TransportSettings(
    int messageBytes,
    int locatesInFlight,
    int readsInFlight,
    int chunkBytes,
    long poolBytes,
    Duration connectTimeout,
    Duration requestTimeout,
    Duration peerTimeout,
    Duration idleTimeout,
    Duration quarantine,
    Duration maxQuarantine,
    int maxConnections,
    int deliveryThreads,
    boolean verify,
    Duration spin) {
  /** Requests that one connection may have open: W LOCATEs and a RELEASE. */
  int requestsOpen() {
    return locatesInFlight + 1;
  }

  /** Depth of a send queue: READs, own requests and answers, and a READ that probes the peer. */
  public int sendDepth() {
    return readsInFlight + 2 * requestsOpen() + 1;
  }

  /** Depth of a receive queue: the peer's requests and its answers. */
  public int receiveDepth() {
    return 2 * requestsOpen();
  }

  /** Control buffers of one connection. */
  public int slotsPerConnection() {
    return receiveDepth() + 2 * requestsOpen();
  }
}
