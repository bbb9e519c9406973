// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.device;

import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.PortInfo;

/** An address on an active port where peers may connect. */
record Candidate(DeviceInfo device, PortInfo port, NetworkAddress network, Reach reach) {
  /** Preference of an address, best first. */
  enum Reach {
    SPARK_ITSELF("its port has Spark's own address"),
    SAME_FAMILY("its port is active and has an address of Spark's address family"),
    OTHER_FAMILY("its port is active, with an address of another family than Spark's only"),
    BY_GID("its port is active, and has a GID but no IP address");

    private final String reason;

    Reach(String reason) {
      this.reason = reason;
    }

    /** The reason for the choice of a device with such an address, for the log. */
    String reason() {
      return reason;
    }

    /**
     * Whether peers reach it as well. Spark's own address only says which subnet they are on: the
     * other devices there are reached too.
     */
    boolean isAsGoodAs(Reach best) {
      return this == best
          || (this != BY_GID && this != OTHER_FAMILY && best.compareTo(OTHER_FAMILY) < 0);
    }
  }

  boolean isOnPortOf(Candidate other) {
    return device.name().equals(other.device.name()) && port.number() == other.port.number();
  }
}
