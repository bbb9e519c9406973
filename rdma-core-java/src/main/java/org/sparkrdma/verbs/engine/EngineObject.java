// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

/**
 * An object of a device that other objects may use: it cannot be closed while one does. It is open
 * from {@link EngineDevice#add} to the end of its close. Safe for any thread.
 */
public abstract class EngineObject implements AutoCloseable {
  private final EngineDevice device;
  private final String name;
  private final Object closing = new Object();

  /** Guarded by this. */
  private int users;

  /** Written with the lock of this: it stays false while that is held. */
  private volatile boolean closed;

  /**
   * @param name for messages, as in "memory"
   */
  protected EngineObject(EngineDevice device, String name) {
    this.device = device;
    this.name = name;
  }

  final EngineDevice device() {
    return device;
  }

  /** Adds a user, which releases it. Does not look whether it is closed. */
  final synchronized void retain() {
    users++;
  }

  final synchronized void release() {
    users--;
  }

  public final boolean isClosed() {
    return closed;
  }

  protected final void checkOpen() {
    if (closed) {
      throw closedException();
    }
  }

  final IllegalStateException closedException() {
    return new IllegalStateException(name + " is closed");
  }

  /** A second close waits for the end of the first. */
  @Override
  public void close() {
    synchronized (closing) {
      if (markClosed()) {
        try {
          destroy();
        } finally {
          device.remove(this);
        }
      }
    }
  }

  final synchronized void checkUnused() {
    if (users > 0) {
      throw new IllegalStateException(name + " is in use: users=" + users);
    }
  }

  private synchronized boolean markClosed() {
    checkUnused();
    boolean first = !closed;
    closed = true;
    return first;
  }

  /** Releases its resources; called once, when it has no users. */
  protected void destroy() {}
}
