// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

/** Receives completions from {@link CompletionQueue#poll}, on the polling thread. */
@FunctionalInterface
public interface CompletionHandler {
  /**
   * Handles one completion. It may post, and close other queue pairs than that of the completion;
   * it must not poll or close this queue, or close its device. What it throws goes to the caller of
   * {@link CompletionQueue#poll}, and the next poll goes on with the next completion.
   *
   * @param completion valid only during the call
   */
  void onCompletion(WorkCompletion completion);
}
