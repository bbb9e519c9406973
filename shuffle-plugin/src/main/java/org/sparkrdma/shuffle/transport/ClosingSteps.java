// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.List;

/**
 * The progress of a close, so that a later call goes on with the step that has thrown. Safe for any
 * thread; a second one waits for the first.
 */
final class ClosingSteps {
  private int done;

  /**
   * Runs the steps that no earlier call has completed.
   *
   * @param steps all of them, in order; their number is the same at each call
   */
  synchronized void run(List<Runnable> steps) {
    while (done < steps.size()) {
      steps.get(done).run();
      done++;
    }
  }
}
