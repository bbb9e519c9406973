// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.ibverbs.ScriptedDevice;
import org.sparkrdma.verbs.ibverbs.ScriptedEngine;

class ListenersTest {
  @RegisterExtension static final ScriptedDevice DEVICE = new ScriptedDevice();

  private static final int PEERS = 200;
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  /** Same as while the agent closes other connections. */
  @Test
  void shouldGetTheRequestsOfManyPeersAtOnce() throws Exception {
    try (VerbsEngine engine = ScriptedEngine.over(DEVICE.library());
        Device device = engine.open(ScriptedEngine.DEVICE)) {
      CompletionChannel channel = device.createCompletionChannel();
      ConnectionManager manager = device.createConnectionManager(channel);
      ListenerAddress listener =
          Listeners.open(
                  manager, List.of(new NetworkAddress(InetAddress.getLoopbackAddress(), 8)), 0)
              .get(0);

      request(device, new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.port()));

      int requests = 0;
      for (ConnectionEvent event = next(manager); event != null; event = next(manager)) {
        assertThat(event.type()).isEqualTo(ConnectionEvent.Type.CONNECT_REQUEST);
        requests++;
      }
      assertThat(requests).isEqualTo(PEERS);
    }
  }

  /** The next event; the kernel's events are taken in several turns. */
  private static ConnectionEvent next(ConnectionManager manager) {
    ConnectionEvent event = manager.pollEvent();
    return event == null ? manager.pollEvent() : event;
  }

  private static void request(Device device, InetSocketAddress address) throws Exception {
    CompletionChannel channel = device.createCompletionChannel();
    CompletionQueue completions = device.createCompletionQueue(64, channel);
    ProtectionDomain domain = device.allocateProtectionDomain();
    ConnectionManager manager = device.createConnectionManager(channel);
    var settings =
        new QueuePairSettings(completions, completions, 1, 1, 1, 0, Set.<AccessFlag>of());
    var parameters = new ConnectionParameters(new byte[] {1}, 1, 6, 6, 17, TIMEOUT);
    for (int i = 0; i < PEERS; i++) {
      Connection connection = manager.resolve(address, null, TIMEOUT);
      ConnectionEvent event = manager.pollEvent();
      while (event == null) {
        Thread.onSpinWait();
        event = manager.pollEvent();
      }
      assertThat(event.type()).isEqualTo(ConnectionEvent.Type.RESOLVED);
      connection.createQueuePair(domain, settings);
      connection.connect(parameters);
    }
  }
}
