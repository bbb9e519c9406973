// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.leak;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Set;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.Listener;

/** A connection of a device with itself, with a queue pair, that the test leaks. */
final class TwoEnds {
  private static final long PAUSE_NS = 10_000_000;

  private TwoEnds() {}

  static void connect(Device device, ProtectionDomain domain) throws VerbsException {
    CompletionChannel channel = device.createCompletionChannel();
    CompletionQueue queue = device.createCompletionQueue(4, channel);
    ConnectionManager manager = device.createConnectionManager(channel);
    Listener listener =
        manager.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
    Connection connection = manager.resolve(listener.address(), null, Duration.ofSeconds(5));
    ConnectionEvent event = manager.pollEvent();
    while (event == null) {
      channel.await(PAUSE_NS);
      event = manager.pollEvent();
    }
    if (event.connection() != connection) {
      throw new AssertionError("event of another connection than the resolved one");
    }
    connection.createQueuePair(domain, new QueuePairSettings(queue, queue, 1, 1, 1, 0, Set.of()));
  }
}
