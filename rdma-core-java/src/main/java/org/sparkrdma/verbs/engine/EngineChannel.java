// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;
import org.sparkrdma.verbs.CompletionChannel;

/**
 * A completion channel that also wakes its owner at deadlines of the engine's objects. Any thread
 * changes the deadlines; the owner waits.
 */
public abstract class EngineChannel extends EngineObject implements CompletionChannel {
  private final List<LongSupplier> deadlines = new CopyOnWriteArrayList<>();

  protected EngineChannel(EngineDevice device) {
    super(device, "completion channel");
  }

  /** Wakes the owner at this time, as of System.nanoTime; Long.MAX_VALUE means never. */
  public final void addDeadline(LongSupplier deadline) {
    deadlines.add(deadline);
  }

  public final void removeDeadline(LongSupplier deadline) {
    deadlines.remove(deadline);
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
}
