// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.time.Duration;

/**
 * Settings of the transport.
 *
 * @param messageBytes length of a control message's buffer
 * @param locatesInFlight maximum open LOCATEs per connection, W
 * @param readsInFlight maximum posted READs per connection
 * @param readBytesInFlight maximum bytes of posted READs of all connections together
 * @param chunkBytes length of a chunk of the receive pool, a power of two
 * @param poolBytes maximum receive memory
 * @param connectTimeout maximum time that blocks wait for a connection, and that a peer's request
 *     may stay unproven
 * @param requestTimeout maximum time from sending a LOCATE or posting READs to their completion
 * @param peerTimeout maximum silence of a peer while work is outstanding; then it counts as dead
 * @param idleTimeout time after which an unused connection is closed where no room is free; longer
 *     where there is
 * @param quarantine first quarantine of a peer after a failure; doubles each time
 * @param maxQuarantine maximum quarantine
 * @param maxConnections maximum number of connections
 * @param maxAttempts maximum number of connection attempts of this executor at the same time
 * @param verify whether checksums are compared
 * @param spin how long the agent polls before it sleeps
 * @param packets how devices mark and repeat packets
 * @param relaxedOrdering whether devices may write blocks into memory in any order
 */
public record TransportSettings(
    int messageBytes,
    int locatesInFlight,
    int readsInFlight,
    long readBytesInFlight,
    int chunkBytes,
    long poolBytes,
    Duration connectTimeout,
    Duration requestTimeout,
    Duration peerTimeout,
    Duration idleTimeout,
    Duration quarantine,
    Duration maxQuarantine,
    int maxConnections,
    int maxAttempts,
    boolean verify,
    Duration spin,
    PacketSettings packets,
    boolean relaxedOrdering) {
  /** A network of 400 Gb/s carries them in 0.7 ms. */
  private static final long MIN_DERIVED_READ_BYTES = 32L << 20;

  /**
   * Default of {@code readBytesInFlight}. One connection gets at most half, so it may have all its
   * READs posted.
   */
  static long readBytesInFlight(int readsInFlight, int chunkBytes) {
    return Math.max(MIN_DERIVED_READ_BYTES, 2L * readsInFlight * chunkBytes);
  }

  /** Maximum messages of an initiator's set-up: HELLO and CONFIRM. */
  public static final int SETUP_MESSAGES = 2;

  /** LOCATEs that each end of a connection may have open without a grant of credits. */
  public static final int CREDITS_WHEN_IDLE = 1;

  /**
   * Receives posted on an idle connection: for a LOCATE, and for a RELEASE, which needs no credit.
   */
  public static final int RECEIVES_WHEN_IDLE = CREDITS_WHEN_IDLE + 1;

  /**
   * Maximum time of a connection attempt. Longer than blocks wait, because the kernel repeats a
   * lost message of a connection set-up after 4 s (CMA_CM_RESPONSE_TIMEOUT in its cma.c), and a
   * request on RoCE, whose packets may travel for 1 s in each direction, after 6 s.
   */
  public Duration attemptTimeout() {
    return connectTimeout.multipliedBy(3);
  }

  /** Maximum open requests per connection: W LOCATEs and a RELEASE. */
  public int requestsOpen() {
    return locatesInFlight + 1;
  }

  /**
   * Depth of a send queue: READs, own requests and answers, the messages of the set-up, and a READ
   * that probes the peer.
   */
  public int sendDepth() {
    return readsInFlight + 2 * requestsOpen() + SETUP_MESSAGES + 1;
  }

  /** Depth of a receive queue: the peer's requests and answers, and the CONFIRM of the set-up. */
  public int receiveDepth() {
    return 2 * requestsOpen() + 1;
  }
}
