// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import org.sparkrdma.shuffle.wire.Binding;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.device.Capability;

/** The binding of a connection as an honest end computes it. */
final class TestBinding {
  private TestBinding() {}

  /** The initiator's binding, after the queue pair was created. */
  static Binding ofInitiator(Device device, Connection connection) {
    return new Binding(
        device.info().can(Capability.REQUEST_HAS_QUEUE_PAIR) ? connection.queuePair().number() : 0,
        connection.localAddress().getAddress(),
        connection.remoteAddress().getAddress());
  }

  /** The responder's binding, after the request was received. */
  static Binding ofResponder(Connection connection) {
    return new Binding(
        connection.requestQueuePairNumber(),
        connection.remoteAddress().getAddress(),
        connection.localAddress().getAddress());
  }
}
