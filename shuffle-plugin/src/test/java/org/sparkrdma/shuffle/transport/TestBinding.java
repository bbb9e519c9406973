/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
