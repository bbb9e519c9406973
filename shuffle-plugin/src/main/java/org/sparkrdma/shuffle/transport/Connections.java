// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.sparkrdma.shuffle.thread.OwnerThread;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.WorkCompletion;

/**
 * The connections of both directions by their indexes, and what they want of the agent's next
 * iterations: their end, a release of leases, buffers for answers, a poll soon. Confined to the
 * agent.
 */
final class Connections implements CompletionHandler {
  private final OwnerThread agentThread;

  /** Connections by their index; null for free ones. */
  private final List<RdmaConnection> table = new ArrayList<>();

  private final ArrayDeque<RdmaConnection> broken = new ArrayDeque<>();
  private final ArrayDeque<FetchConnection> releasing = new ArrayDeque<>();
  private final ArrayDeque<ServeConnection> shortOfBuffers = new ArrayDeque<>();
  private boolean answerBufferFree;
  private long nowNs;
  private long askedNs;
  private long answerNs;
  private boolean expectsCompletion;

  /**
   * @param agentThread owns the connections
   */
  Connections(OwnerThread agentThread) {
    this.agentThread = agentThread;
  }

  OwnerThread agentThread() {
    return agentThread;
  }

  /** Time of this iteration. */
  long nowNs() {
    return nowNs;
  }

  /** An iteration begins. */
  void beginIteration(long iterationNs) {
    nowNs = iterationNs;
  }

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
      connection.onCompletion(completion, nowNs);
    }
  }

  /** Work was posted whose completion or answer is expected. */
  void expectCompletion(long postedNs) {
    askedNs = postedNs;
    expectsCompletion = true;
  }

  /** An answer came after so long. */
  void onLocated(long afterNs) {
    answerNs += (afterNs - answerNs) / 8;
    expectsCompletion = false;
  }

  /** Whether an answer is expected sooner than a wake-up costs. */
  boolean expectsSoon(long wakeUpNs) {
    return expectsCompletion && answerNs < wakeUpNs && nowNs - askedNs < 2 * wakeUpNs;
  }

  /** A connection is to be destroyed in this iteration or a later one. */
  void addBroken(RdmaConnection connection) {
    broken.add(connection);
  }

  /** Destroys connections that are broken, at most this number; returns how many it was. */
  int destroyBroken(int max) {
    int ended = 0;
    while (ended < max && !broken.isEmpty()) {
      broken.poll().destroy();
      ended++;
    }
    return ended;
  }

  /** A connection has leases to release soon. */
  void addReleasing(FetchConnection connection) {
    releasing.add(connection);
  }

  boolean hasReleasing() {
    return !releasing.isEmpty();
  }

  /** Releases leases that no LOCATE has taken along. */
  void releaseLeases() {
    for (int i = releasing.size(); i > 0; i--) {
      FetchConnection next = releasing.poll();
      if (!next.releaseLeases(nowNs)) {
        releasing.add(next);
      }
    }
  }

  /** A connection has requests without buffers for their answers. */
  void addShortOfBuffers(ServeConnection connection) {
    if (!shortOfBuffers.contains(connection)) {
      shortOfBuffers.add(connection);
    }
  }

  /** The buffer of an answer is free. */
  void onAnswerBufferFree() {
    answerBufferFree = true;
  }

  /** Handles requests that waited for buffers; returns the number of their connections. */
  int serveShortOfBuffers() {
    int waiting = answerBufferFree ? shortOfBuffers.size() : 0;
    answerBufferFree = false;
    for (int i = 0; i < waiting; i++) {
      shortOfBuffers.poll().takeDeferred(nowNs);
    }
    return waiting;
  }

  /** Checks of each tenth of a second. */
  void onTick() {
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
    broken.clear();
  }
}
