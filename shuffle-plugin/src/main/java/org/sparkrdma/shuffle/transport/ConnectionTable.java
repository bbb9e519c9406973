// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.WorkCompletion;

/**
 * The connections of both directions by their indexes, which the ids of their work requests
 * contain. Confined to the agent.
 */
final class ConnectionTable implements CompletionHandler {
  /** Null for free indexes. */
  private final List<RdmaConnection> table = new ArrayList<>();

  /** Adds a connection; returns its index. */
  int add(RdmaConnection connection) {
    int free = table.indexOf(null);
    if (free >= 0) {
      table.set(free, connection);
      return free;
    }
    table.add(connection);
    return table.size() - 1;
  }

  void remove(RdmaConnection connection) {
    table.set(connection.index(), null);
    while (!table.isEmpty() && table.get(table.size() - 1) == null) {
      table.remove(table.size() - 1);
    }
  }

  boolean isEmpty() {
    return table.isEmpty();
  }

  /** Connections that are not destroyed. For tests. */
  int count() {
    return (int) table.stream().filter(Objects::nonNull).count();
  }

  @Override
  public void onCompletion(WorkCompletion completion) {
    int index = SendQueue.connectionIndex(completion.requestId());
    RdmaConnection connection = index < table.size() ? table.get(index) : null;
    if (connection != null) {
      connection.onCompletion(completion);
    }
  }

  /** Checks of each tenth of a second. */
  void onTick(long nowNs) {
    for (int i = 0; i < table.size(); i++) {
      RdmaConnection connection = table.get(i);
      if (connection != null && !connection.hasEnded()) {
        connection.onTick(nowNs);
      }
    }
  }

  /** Destroys all connections. The closer's thread, after the agent has ended. */
  void destroyAll() {
    for (RdmaConnection connection : table.stream().filter(Objects::nonNull).toList()) {
      connection.markBroken(null, "executor stops");
      connection.destroy();
    }
  }
}
