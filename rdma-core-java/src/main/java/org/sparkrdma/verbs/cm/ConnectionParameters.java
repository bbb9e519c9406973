// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.cm;

import java.time.Duration;

/**
 * Parameters of {@link Connection#connect} and {@link Connection#accept}, see rdma_conn_param in
 * rdma_connect(3).
 *
 * @param privateData for the peer, at most the device's limit; not null. The peer may receive it
 *     padded with zeros: include the length
 * @param readsInFlight maximum number of outstanding RDMA READs in each direction (initiator depth
 *     and responder resources); ignored without {@link
 *     org.sparkrdma.verbs.device.Capability#READ_DEPTH}
 * @param retryCount retries when the peer does not acknowledge, 0 to 6: 7 means without limit on
 *     some transports and is rejected
 * @param receiverNotReadyRetryCount retries when the peer has no receive posted, 0 to 7; 7 means
 *     without limit
 * @param ackTimeout exponent of the acknowledge time-out, 4.096 us times 2 to its power, 1 to 31; 0
 *     uses the default of the device; ignored without {@link
 *     org.sparkrdma.verbs.device.Capability#ACK_TIMEOUT}
 * @param timeout maximum time for the answer of the peer; for connect only
 */
public record ConnectionParameters(
    byte[] privateData,
    int readsInFlight,
    int retryCount,
    int receiverNotReadyRetryCount,
    int ackTimeout,
    Duration timeout) {
  /**
   * Copies the private data and checks the ranges.
   *
   * @param privateData see {@link #privateData()}
   * @param readsInFlight see {@link #readsInFlight()}
   * @param retryCount see {@link #retryCount()}
   * @param receiverNotReadyRetryCount see {@link #receiverNotReadyRetryCount()}
   * @param ackTimeout see {@link #ackTimeout()}
   * @param timeout see {@link #timeout()}
   * @throws IllegalArgumentException when a number is out of its range, or the time-out is negative
   */
  public ConnectionParameters {
    privateData = privateData.clone();
    if (readsInFlight < 0
        || retryCount < 0
        || retryCount > 6
        || receiverNotReadyRetryCount < 0
        || receiverNotReadyRetryCount > 7
        || ackTimeout < 0
        || ackTimeout > 31
        || timeout.isNegative()) {
      throw new IllegalArgumentException(
          ("bad connection parameters: readsInFlight=%d retryCount=%d receiverNotReadyRetryCount=%d"
                  + " ackTimeout=%d timeout=%s")
              .formatted(
                  readsInFlight, retryCount, receiverNotReadyRetryCount, ackTimeout, timeout));
    }
  }

  /**
   * {@return safe defaults with the given private data, for tools and examples; the shuffle gives
   * its own}
   *
   * @param privateData for the peer, at most the device's limit; not null
   */
  public static ConnectionParameters of(byte[] privateData) {
    return new ConnectionParameters(privateData, 16, 6, 6, 17, Duration.ofSeconds(5));
  }

  /** {@return a copy of the data for the peer} */
  @Override
  public byte[] privateData() {
    return privateData.clone();
  }
}
