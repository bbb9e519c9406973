// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;

/**
 * Checks that a device can authenticate peers. The proof travels in the private data of the
 * connection request and of its answer, so that a peer without proof is refused before a queue pair
 * exists.
 *
 * <p>A device that cannot change the access flags of a connected queue pair grants remote access
 * before both ends are proven. It is used only where the administrator trusts the fabric.
 */
final class DeviceNeeds {
  private DeviceNeeds() {}

  /**
   * Rejects a device that lacks a required capability.
   *
   * @param fabricTrusted whether the administrator trusts every host of the fabric
   * @throws VerbsException naming all missing capabilities
   */
  static void check(DeviceInfo device, boolean fabricTrusted) throws VerbsException {
    List<String> missing = new ArrayList<>();
    for (Capability needed : List.of(Capability.ACCEPT_PRIVATE_DATA, Capability.REJECT)) {
      if (!device.can(needed)) {
        missing.add(needed.name());
      }
    }
    int privateData = device.limits().maxPrivateDataBytes();
    if (privateData < Hello.LENGTH_BYTES) {
      missing.add("private data of " + Hello.LENGTH_BYTES + " bytes (it has " + privateData + ")");
    }
    if (!missing.isEmpty()) {
      throw new VerbsException(
          "listen",
          "engine "
              + device.engine()
              + " cannot keep strangers out, so it carries no shuffle: device "
              + device.name()
              + " lacks "
              + String.join(", ", missing));
    }
    if (!device.can(Capability.QUEUE_PAIR_ACCESS) && !fabricTrusted) {
      throw new VerbsException(
          "listen",
          "device "
              + device.name()
              + " gives a peer remote access before the peer is proven, because it cannot change the"
              + " access of a connected queue pair; set spark.shuffle.rdma.fabric.trusted=true if"
              + " every host of the fabric is trusted");
    }
  }
}
