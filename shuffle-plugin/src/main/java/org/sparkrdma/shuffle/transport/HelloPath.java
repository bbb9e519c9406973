// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;

/** The path of the request and the answer that prove both ends of a connection, on a device. */
enum HelloPath {
  /** Private data of the connection request and reply: an unproven request gets no queue pair. */
  PRIVATE_DATA,
  /** The first SEND of each end: the queue pair is connected before either end is proven. */
  SEND;

  static HelloPath of(DeviceInfo device) {
    boolean shown =
        device.can(Capability.ACCEPT_PRIVATE_DATA)
            && device.can(Capability.REJECT)
            && device.limits().maxPrivateDataBytes() >= Hello.LENGTH_BYTES;
    return shown ? PRIVATE_DATA : SEND;
  }
}
