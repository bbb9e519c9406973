// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.time.Duration;
import java.util.Optional;

/**
 * Settings of the transport.
 *
 * @param readBytesInFlight maximum bytes of posted READs of all connections together
 * @param chunkBytes maximum length of a chunk of receive memory, a power of two
 * @param poolBytes maximum receive memory; empty to derive it
 * @param connectTimeout maximum time that blocks wait for a connection, and that a peer's request
 *     may stay unproven
 * @param requestTimeout maximum time from sending a LOCATE or posting READs to their completion
 * @param idleTimeout time after which an unused connection is closed, and unused memory
 *     deregistered
 * @param waitsFactor factor of what blocks may wait in vain
 * @param maxConnections maximum number of connections in each direction
 * @param maxAttempts maximum number of connection attempts of this executor at the same time
 * @param packets how devices mark and repeat packets
 * @param relaxedOrdering whether devices may write blocks into memory in any order
 * @param listenPort port of each listener; 0 selects free ports
 * @param fabricTrusted whether the administrator trusts every host of the fabric
 */
public record TransportSettings(
    long readBytesInFlight,
    int chunkBytes,
    Optional<Long> poolBytes,
    Duration connectTimeout,
    Duration requestTimeout,
    Duration idleTimeout,
    int waitsFactor,
    int maxConnections,
    int maxAttempts,
    PacketSettings packets,
    boolean relaxedOrdering,
    int listenPort,
    boolean fabricTrusted) {
  /** Default of {@code readBytesInFlight}. A network of 400 Gb/s carries them in 0.7 ms. */
  static final long DEFAULT_READ_BYTES = 32L << 20;

  /**
   * Maximum time of a connection attempt. Longer than blocks wait, because the kernel repeats a
   * lost message of a connection set-up after 4 s (CMA_CM_RESPONSE_TIMEOUT in its cma.c), and a
   * request on RoCE, whose packets may travel for 1 s in each direction, after 6 s.
   */
  public Duration attemptTimeout() {
    return connectTimeout.multipliedBy(3);
  }
}
