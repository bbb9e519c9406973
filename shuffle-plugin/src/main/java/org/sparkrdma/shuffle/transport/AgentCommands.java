// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.concurrent.ConcurrentLinkedQueue;
import org.sparkrdma.verbs.CompletionChannel;

/**
 * Commands of other threads to the agent, which they wake up; its completion channel also wakes it
 * for an event or a completion.
 */
final class AgentCommands {
  private final CompletionChannel channel;
  private final ConcurrentLinkedQueue<Runnable> queue = new ConcurrentLinkedQueue<>();

  /**
   * @param channel where the agent sleeps
   */
  AgentCommands(CompletionChannel channel) {
    this.channel = channel;
  }

  /** Runs a command on the agent's thread soon. Safe for any thread. */
  void execute(Runnable command) {
    queue.add(command);
    channel.wakeup();
  }

  /** Runs the commands that wait; returns their number. The agent, or the closer after its end. */
  int run() {
    int work = 0;
    Runnable command = queue.poll();
    while (command != null) {
      command.run();
      work++;
      command = queue.poll();
    }
    return work;
  }

  /** Waits for a command, an event or a completion, at most this long. The agent. */
  void await(long timeoutNs) {
    channel.await(timeoutNs);
  }
}
