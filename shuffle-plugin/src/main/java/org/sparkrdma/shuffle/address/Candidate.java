// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.PortInfo;

/** An address on an active port where peers may connect. */
record Candidate(DeviceInfo device, PortInfo port, NetworkAddress network, Reach reach) {
  /** Preference of an address, best first, with the reason for the log. */
  enum Reach {
    SPARK_ITSELF("its port has Spark's own address"),
    SAME_FAMILY("its port is active and has an address of Spark's address family"),
    OTHER_FAMILY("its port is active, with an address of another family than Spark's only");

    private final String reason;

    Reach(String reason) {
      this.reason = reason;
    }

    String reason() {
      return reason;
    }
  }

  boolean isOnPortOf(Candidate other) {
    return device.name().equals(other.device.name()) && port.number() == other.port.number();
  }

  /**
   * Whether peers of one candidate reach the other. All links have the same link-local subnet, so
   * such addresses say nothing about other ports.
   *
   * @param routed whether a router joins the subnets of this host
   */
  boolean isJoinedWith(Candidate other, boolean routed) {
    if (network.isLinkLocal() || other.network.isLinkLocal()) {
      return isOnPortOf(other);
    }
    return device.transport() == other.device.transport()
        && (network.isOnSubnetOf(other.network) || (routed && network.isRoutableTo(other.network)));
  }
}
