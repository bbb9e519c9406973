// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.sparkrdma.shuffle.thread.OwnerThread;
import org.sparkrdma.verbs.CompletionChannel;

/**
 * What the agent has to do: commands of other threads, which wake it; checks of all connections;
 * and what these want of its next iterations: their end, a release of leases, buffers for answers,
 * a poll soon. It also has the time of the iteration. Its completion channel wakes the agent for an
 * event or a completion, too. Confined to the agent, but for {@link #execute}.
 */
final class AgentWork {
  private final OwnerThread agentThread = new OwnerThread();
  private final CompletionChannel channel;
  private final ConcurrentLinkedQueue<Runnable> commands = new ConcurrentLinkedQueue<>();

  /** Of both directions, until they are destroyed. */
  private final List<RdmaConnection> connections = new ArrayList<>();

  private final ArrayDeque<RdmaConnection> broken = new ArrayDeque<>();
  private final ArrayDeque<FetchConnection> releasing = new ArrayDeque<>();
  private final ArrayDeque<ServeConnection> shortOfBuffers = new ArrayDeque<>();
  private boolean answerBufferFree;
  private long nowNs;
  private long askedNs;
  private long answerNs;
  private boolean expectsCompletion;

  /**
   * @param channel where the agent sleeps
   */
  AgentWork(CompletionChannel channel) {
    this.channel = channel;
  }

  /** The agent. */
  OwnerThread agentThread() {
    return agentThread;
  }

  /** Runs a command on the agent's thread soon. Safe for any thread. */
  void execute(Runnable command) {
    commands.add(command);
    channel.wakeup();
  }

  /** Runs the commands that wait; returns their number. The agent, or the closer after its end. */
  int runCommands() {
    int done = 0;
    Runnable command = commands.poll();
    while (command != null) {
      command.run();
      done++;
      command = commands.poll();
    }
    return done;
  }

  /** Waits for a command, an event or a completion, at most this long. */
  void await(long timeoutNs) {
    channel.await(timeoutNs);
  }

  /** Time of this iteration. */
  long nowNs() {
    return nowNs;
  }

  /** An iteration begins. */
  void beginIteration(long iterationNs) {
    nowNs = iterationNs;
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

  /** A connection begins. */
  void add(RdmaConnection connection) {
    connections.add(connection);
  }

  /** A connection is destroyed. */
  void remove(RdmaConnection connection) {
    connections.remove(connection);
  }

  /** Number of connections that are not destroyed. */
  int connections() {
    return connections.size();
  }

  /** Checks of each tenth of a second; they may add connections. */
  void onTick() {
    for (int i = 0; i < connections.size(); i++) {
      RdmaConnection connection = connections.get(i);
      if (!connection.hasEnded()) {
        connection.onTick(nowNs);
      }
    }
  }

  /** Destroys all connections. The closer's thread, after the agent has ended. */
  void destroyAll() {
    for (RdmaConnection connection : List.copyOf(connections)) {
      connection.markBroken(null, "executor stops");
      connection.destroy();
    }
  }

  /** A connection is to be destroyed in this iteration or a later one. */
  void addBroken(RdmaConnection connection) {
    broken.add(connection);
  }

  /** Destroys a connection that is broken; false without one. */
  boolean destroyBroken() {
    RdmaConnection connection = broken.poll();
    if (connection == null) {
      return false;
    }
    connection.destroy();
    return true;
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
      shortOfBuffers.poll().takeReceived(nowNs);
    }
    return waiting;
  }
}
