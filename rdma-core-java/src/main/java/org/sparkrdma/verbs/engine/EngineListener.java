// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.net.InetSocketAddress;
import org.sparkrdma.verbs.cm.Listener;

/** A listening identifier of a connection manager, whose owner owns it. */
public class EngineListener implements Listener {
  private final EngineConnectionManager manager;
  private final Object id;
  private final InetSocketAddress address;
  private volatile boolean closed;

  /**
   * Takes over the identifier.
   *
   * @param id what its manager calls it
   */
  public EngineListener(EngineConnectionManager manager, Object id, InetSocketAddress address) {
    this.manager = manager;
    this.id = id;
    this.address = address;
  }

  final Object id() {
    return id;
  }

  @Override
  public final InetSocketAddress address() {
    return address;
  }

  /** One of its requests was polled or dropped. */
  protected void onRequestPolled() {}

  protected final boolean isClosed() {
    return closed;
  }

  /** Its manager takes no more requests for it; called under the manager's lock. */
  final void markClosed() {
    closed = true;
  }

  /** Keeps the lock while it closes, so that a second close waits for the end of the first. */
  @Override
  public final synchronized void close() {
    if (!closed) {
      manager.close(this);
    }
  }
}
