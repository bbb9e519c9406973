// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.sparkrdma.verbs.CompletionChannel;

/**
 * A completion channel that also wakes its owner at deadlines of the engine's objects. Any thread
 * changes the deadlines; the owner waits.
 */
public abstract class EngineChannel implements CompletionChannel {
  private final EngineDevice device;

  /** An array, since the owner reads it each time before it waits. */
  private volatile LongSupplier[] deadlines = {};

  private volatile boolean closed;

  protected EngineChannel(EngineDevice device) {
    this.device = device;
  }

  /** Wakes the owner at this time, as of System.nanoTime; Long.MAX_VALUE means never. */
  public final synchronized void addDeadline(LongSupplier deadline) {
    var all = new ArrayList<>(List.of(deadlines));
    all.add(deadline);
    deadlines = all.toArray(LongSupplier[]::new);
  }

  public final synchronized void removeDeadline(LongSupplier deadline) {
    var all = new ArrayList<>(List.of(deadlines));
    all.remove(deadline);
    deadlines = all.toArray(LongSupplier[]::new);
  }

  /** The time until the next deadline, at most the time-out; 0 when a deadline is over. */
  public final long remainingNs(long timeoutNs) {
    long least = timeoutNs;
    for (LongSupplier deadline : deadlines) {
      long at = deadline.getAsLong();
      if (at != Long.MAX_VALUE) {
        least = Math.min(least, Math.max(0, at - System.nanoTime()));
      }
    }
    return least;
  }

  /** Keeps the lock while it destroys, so that a second close waits for the end of the first. */
  @Override
  public final synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      destroy();
    } finally {
      device.onClosed(this);
    }
  }

  /** Whether it was closed. Stays false only while this lock is held. */
  protected final boolean isClosed() {
    return closed;
  }

  protected final void checkOpen() {
    if (closed) {
      throw new IllegalStateException("completion channel is closed");
    }
  }

  /** Releases its resources; called once. */
  protected void destroy() {}
}
