// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

/**
 * A shuffle that is being unregistered: counts its map outputs that still have registered windows
 * and runs a callback when the last one has none. Confined to the agent.
 */
final class PendingUnregistration {
  private final Runnable done;
  private int outputs = 1;

  /** Starts with a count of one, so that the caller must call {@link #onOutputGone} once. */
  PendingUnregistration(Runnable done) {
    this.done = done;
  }

  /** Adds a map output. */
  void await() {
    outputs++;
  }

  void onOutputGone() {
    outputs--;
    if (outputs == 0) {
      done.run();
    }
  }
}
