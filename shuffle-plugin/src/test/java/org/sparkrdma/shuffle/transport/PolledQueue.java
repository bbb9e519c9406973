// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkCompletion;

/** A completion queue of a {@link PolledDevice}. */
final class PolledQueue extends ScriptedConnection.Queue {
  private final Runnable costOfPoll;
  private final ArrayDeque<WorkCompletion> completions = new ArrayDeque<>();
  private long polls;

  /**
   * @param costOfPoll runs at each poll
   */
  PolledQueue(Runnable costOfPoll) {
    this.costOfPoll = costOfPoll;
  }

  @Override
  public int poll(int limit, CompletionHandler handler) {
    polls++;
    costOfPoll.run();
    int handled = 0;
    while (handled < limit && !completions.isEmpty()) {
      handler.onCompletion(completions.poll());
      handled++;
    }
    return handled;
  }

  void add(WorkCompletion completion) {
    completions.add(completion);
  }

  /** Completes work that no connection of this executor has posted. */
  void completeStrangeWork() {
    completions.add(
        new ScriptedConnection.Work(
                WorkIds.sends(ScriptedReader.MAX_CONNECTIONS), Opcode.SEND, null, 0, 0, true)
            .completion(0));
  }

  boolean isEmpty() {
    return completions.isEmpty();
  }

  long polls() {
    return polls;
  }
}
