// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;

/**
 * Checks that a device keeps strangers out, or that the administrator trusts all hosts of the
 * fabric.
 */
public final class DeviceNeeds {
  private static final String TRUST =
      "; set spark.shuffle.rdma.fabric.trusted=true if every host of the fabric is trusted";

  private DeviceNeeds() {}

  /**
   * Rejects a device that cannot keep strangers out of a fabric that is not trusted.
   *
   * @param fabricTrusted whether the administrator trusts every host of the fabric
   * @throws VerbsException that names the setting which allows the device
   */
  public static void check(DeviceInfo device, boolean fabricTrusted) throws VerbsException {
    if (fabricTrusted) {
      return;
    }
    if (!device.can(Capability.QUEUE_PAIR_ACCESS)) {
      throw new VerbsException(
          "listen",
          "device "
              + device.name()
              + " gives a peer remote access before the peer is proven, because engine "
              + device.engine()
              + " cannot change the access of its connected queue pairs"
              + TRUST);
    }
    if (HelloPath.of(device) == HelloPath.SEND) {
      throw new VerbsException(
          "listen",
          "device "
              + device.name()
              + " connects a peer before the peer is proven, because engine "
              + device.engine()
              + " shows no private data of connection requests"
              + TRUST);
    }
  }
}
