// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.device.Capability;

/** The binding of a connection as an honest end computes it. */
final class TestBinding {
  private TestBinding() {}

  /** The initiator's binding, after the queue pair was created. */
  static ConnectionBinding ofInitiator(Device device, Connection connection) {
    return ConnectionBinding.of(
        device.info().can(Capability.REQUEST_HAS_QUEUE_PAIR) ? connection.queuePair().number() : 0,
        connection.localAddress(),
        connection.remoteAddress());
  }

  /** The responder's binding, after the request was received. */
  static ConnectionBinding ofResponder(Connection connection) {
    return ConnectionBinding.of(
        connection.requestQueuePairNumber(), connection.remoteAddress(), connection.localAddress());
  }
}
