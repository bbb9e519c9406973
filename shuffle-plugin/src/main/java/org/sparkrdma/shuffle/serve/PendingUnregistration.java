// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

/**
 * A shuffle that is being unregistered: counts its map outputs that still have registered windows
 * and runs a callback when the last one has none. Used with the server's lock.
 */
final class PendingUnregistration {
  private final Runnable done;
  private int outputs = 1;
  private boolean isDone;

  /** Starts with a count of one, so that the caller must call {@link #onOutputGone} once. */
  PendingUnregistration(Runnable done) {
    this.done = done;
  }

  /** Adds a map output. */
  void await() {
    outputs++;
  }

  /** A call after the last one repeats the callback if that has ended by an Error. */
  void onOutputGone() {
    outputs = Math.max(0, outputs - 1);
    if (outputs == 0 && !isDone) {
      done.run();
      isDone = true;
    }
  }
}
