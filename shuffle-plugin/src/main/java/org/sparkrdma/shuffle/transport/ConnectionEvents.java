// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.function.Consumer;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;

/**
 * What the connection manager reports, in the iterations of the agent: requests of readers, events
 * of connections, the loss of the device. Confined to the agent.
 */
final class ConnectionEvents {
  private static final int AT_ONCE = 32;

  /** Polling for events is a system call: only each n-th iteration does it. */
  private static final int ITERATIONS = 16;

  private final ConnectionManager manager;
  private final ConnectAttempts attempts;
  private final ServePeers servePeers;
  private final Consumer<String> onLost;

  /** Iterations until the next poll. */
  private int until;

  /**
   * @param onLost gets the reason why RDMA is lost
   */
  ConnectionEvents(
      ConnectionManager manager,
      ConnectAttempts attempts,
      ServePeers servePeers,
      Consumer<String> onLost) {
    this.manager = manager;
    this.attempts = attempts;
    this.servePeers = servePeers;
    this.onLost = onLost;
  }

  /** The next iteration polls. */
  void handleNext() {
    until = 0;
  }

  /** Handles the events of an iteration; returns their number. */
  int handle(long nowNs) {
    if (--until > 0) {
      return 0;
    }
    int events = 0;
    while (events < AT_ONCE) {
      ConnectionEvent event = manager.pollEvent();
      if (event == null) {
        until = ITERATIONS;
        return events;
      }
      onEvent(event, nowNs);
      events++;
    }
    return events;
  }

  private void onEvent(ConnectionEvent event, long nowNs) {
    if (event.type() == ConnectionEvent.Type.CONNECT_REQUEST) {
      servePeers.onRequest(event.connection());
      return;
    }
    if (event.type() == ConnectionEvent.Type.DEVICE_REMOVED
        || event.type() == ConnectionEvent.Type.DEVICE_DOWN) {
      onLost.accept(event.reason().isEmpty() ? "the device was removed" : event.reason());
    }
    Object end = event.connection() == null ? null : event.connection().attachment();
    if (end instanceof FetchConnection reader && !reader.hasEnded()) {
      attempts.onEvent(reader, event, nowNs);
    } else if (end instanceof ServeConnection served && !served.hasEnded()) {
      servePeers.onEvent(served, event);
    }
  }
}
