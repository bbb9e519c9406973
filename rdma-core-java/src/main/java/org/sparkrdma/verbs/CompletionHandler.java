// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

/** Receives completions from {@link CompletionQueue#poll}, on the polling thread. */
@FunctionalInterface
public interface CompletionHandler {
  /**
   * Handles one completion.
   *
   * @param completion valid only during the call
   */
  void onCompletion(WorkCompletion completion);
}
