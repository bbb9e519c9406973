// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.LogLimit;
import org.sparkrdma.shuffle.serve.BlockServer;
import org.sparkrdma.shuffle.wire.SetupMessages.Refusal;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;

/**
 * The executors that read from this one: accepts their connections, as many as there is room for. A
 * quarter at most may be unproven; a full server ends the one that is unused for longest. Confined
 * to the agent.
 */
final class ServePeers {
  private static final Logger LOG = LoggerFactory.getLogger(ServePeers.class);
  private static final int MIN_UNPROVEN = 8;

  /** Requests that wait for a queue pair, beside those that wait in the kernel. */
  private static final int MAX_WAITING = 1_024;

  /** The next LOCATE of a reader that is busy follows sooner. */
  private static final long MIN_IDLE_NS = TimeUnit.MILLISECONDS.toNanos(20);

  private final AgentResources shared;
  private final BlockServer server;
  private final LogLimit logLimit;
  private final int maxUnproven;
  private final Map<Long, ServeConnection> serving = new HashMap<>();
  private long serveNumbers;

  ServePeers(AgentResources shared, BlockServer server) {
    this.shared = shared;
    this.server = server;
    this.logLimit = new LogLimit(shared.device().nanoClock());
    this.maxUnproven = Math.max(MIN_UNPROVEN, shared.settings().maxConnections() / 4);
  }

  /** A reader requests a connection. */
  void onRequest(Connection connection) {
    if (shared.queuePairs().waiting() >= MAX_WAITING) {
      refuse(connection);
    } else {
      long sinceNs = shared.work().nowNs();
      shared.queuePairs().await(() -> accept(connection, sinceNs));
    }
  }

  private void refuse(Connection connection) {
    shared.counters().increment(Counter.CONNECTIONS_REFUSED);
    connection.reject(shared.fitness().full());
    connection.close();
  }

  private void accept(Connection connection, long sinceNs) {
    long nowNs = shared.work().nowNs();
    if (nowNs - sinceNs > shared.settings().attemptTimeout().toNanos()) {
      // Its reader has given up; others wait.
      refuse(connection);
      return;
    }
    long unproven = serving.values().stream().filter(other -> !other.isProven()).count();
    boolean full = serving.size() >= shared.settings().maxConnections() || unproven >= maxUnproven;
    if (full) {
      if (unproven < maxUnproven) {
        endIdlest(nowNs);
      }
      refuse(connection);
      return;
    }
    ServeConnection accepted =
        new ServeConnection(shared, this, server, connection, ++serveNumbers, nowNs);
    serving.put(accepted.number(), accepted);
    accepted.create();
  }

  /** There is no room for a connection after all. */
  void reject(ServeConnection connection) {
    shared.counters().increment(Counter.CONNECTIONS_REFUSED);
    connection.reject();
  }

  /** Ends the connection that is unused for longest; the reader that is rejected tries again. */
  private void endIdlest(long nowNs) {
    ServeConnection idlest = null;
    for (ServeConnection other : serving.values()) {
      if (other.isUnused() && (idlest == null || other.lastUsedNs - idlest.lastUsedNs < 0)) {
        idlest = other;
      }
    }
    if (idlest != null && nowNs - idlest.lastUsedNs > MIN_IDLE_NS) {
      idlest.markBroken(null, "another reader needs its room");
    }
  }

  /** A REQUEST was refused. */
  void onRefusedRequest(InetSocketAddress from, Refusal refusal) {
    shared.counters().increment(Counter.CONNECTIONS_REFUSED);
    logLimit
        .next(refusal)
        .ifPresent(
            omitted -> LOG.info("Refused a connection from {}: {}{}", from, refusal, omitted));
  }

  /** The connection manager has an event of a connection that has not ended. */
  void onEvent(ServeConnection connection, ConnectionEvent event) {
    if (event.type() != ConnectionEvent.Type.ESTABLISHED) {
      // A received request counts as ESTABLISHED.
      connection.markBroken(FallbackReason.LOST_PEER, event.type() + " " + event.reason());
    }
  }

  /** A connection is broken. */
  void onBroken(ServeConnection connection, String detail) {
    LOG.debug("Connection of reader number={} ends: {}", connection.number(), detail);
  }

  /** The queue pair of a connection is destroyed. */
  void onDestroyed(ServeConnection connection) {
    serving.remove(connection.number());
    if (connection.isProven()) {
      shared.counters().increment(Counter.CONNECTIONS_CLOSED);
    }
  }
}
