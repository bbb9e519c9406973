// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import org.sparkrdma.shuffle.wire.Binding;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.device.Capability;

/** What an honest end takes for the binding of a connection. */
final class TestBinding {
  private TestBinding() {}

  /** Of the initiator, once there is a queue pair. */
  static Binding ofInitiator(Device device, Connection connection) {
    return new Binding(
        device.info().can(Capability.REQUEST_TELLS_QUEUE_PAIR)
            ? connection.queuePair().number()
            : 0,
        connection.localAddress().getAddress(),
        connection.remoteAddress().getAddress());
  }

  /** Of the responder, once there is a request. */
  static Binding ofResponder(Connection connection) {
    return new Binding(
        connection.requestQueuePairNumber(),
        connection.remoteAddress().getAddress(),
        connection.localAddress().getAddress());
  }
}
