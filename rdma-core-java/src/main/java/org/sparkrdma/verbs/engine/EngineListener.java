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

  @Override
  public final void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    manager.onClosed(this);
  }
}
