// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine.device;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.engine.EngineChannel;
import org.sparkrdma.verbs.engine.EngineConnectionManager;
import org.sparkrdma.verbs.engine.EngineDevice;

/**
 * A connection manager over the kernel's, see rdma_cm(7). The kernel may answer a request long
 * after the caller's time-out; so this ends late attempts when its owner polls, and wakes it for
 * that.
 */
public abstract class RdmaCmConnectionManager extends EngineConnectionManager {
  private final EngineChannel channel;
  private final Set<RdmaCmConnection<?>> attempts = ConcurrentHashMap.newKeySet();
  private final LongSupplier deadline = this::attemptDeadlineNs;

  protected RdmaCmConnectionManager(EngineDevice<?> device, EngineChannel channel) {
    super(device, channel);
    this.channel = channel;
    channel.addDeadline(deadline);
  }

  @Override
  public final ConnectionEvent pollEvent() {
    ConnectionEvent event = super.pollEvent();
    if (event == null && !attempts.isEmpty()) {
      long now = System.nanoTime();
      attempts.forEach(connection -> connection.endWhenLate(now));
      event = nextOfOpen();
    }
    return event;
  }

  /** Whether close has begun: its connections are destroyed without a wait for events. */
  final boolean isClosing() {
    return isClosed();
  }

  /** A connection waits for an answer until its deadline. */
  final void addAttempt(RdmaCmConnection<?> connection) {
    attempts.add(connection);
  }

  final void removeAttempt(RdmaCmConnection<?> connection) {
    attempts.remove(connection);
  }

  private long attemptDeadlineNs() {
    long least = Long.MAX_VALUE;
    for (RdmaCmConnection<?> connection : attempts) {
      long at = connection.deadlineNs();
      if (least == Long.MAX_VALUE || at - least < 0) {
        least = at;
      }
    }
    return least;
  }

  @Override
  protected void stopEvents() {
    channel.removeDeadline(deadline);
  }
}
