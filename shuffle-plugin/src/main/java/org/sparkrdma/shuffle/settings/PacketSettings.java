// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.time.Duration;
import java.util.OptionalInt;

/**
 * Marks and repetition of the packets of a connection.
 *
 * @param trafficClass TOS byte of IPv4, traffic class of IPv6 and InfiniBand; empty for the
 *     system's default
 * @param ackTimeout exponent of the acknowledge time-out: 4.096 us times 2 to its power
 * @param ackRetries how often a packet is repeated that is not acknowledged, always 6
 */
public record PacketSettings(OptionalInt trafficClass, int ackTimeout, int ackRetries) {
  private static final long ACK_UNIT_NS = 4_096;

  /** Rounds the acknowledge time-out up to one that devices have. */
  static PacketSettings of(OptionalInt trafficClass, Duration ackTimeout, int ackRetries) {
    long units = (ackTimeout.toNanos() + ACK_UNIT_NS - 1) / ACK_UNIT_NS;
    int exponent = Long.SIZE - Long.numberOfLeadingZeros(Math.max(1, units - 1));
    return new PacketSettings(trafficClass, exponent, ackRetries);
  }
}
