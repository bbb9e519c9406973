// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;

/**
 * A loaded engine and its open devices, each of which may be open several times. {@link #close}
 * closes the devices that are still open. Safe for any thread.
 */
public abstract class EngineBase implements VerbsEngine {
  private final Set<Device> open = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /** Opens a device, which reports its close to the consumer. */
  protected interface Opener {
    Device open(Consumer<Device> onClosed) throws VerbsException;
  }

  /** Opens a device of this engine, which must not be closed. */
  protected final Device open(Opener opener) throws VerbsException {
    if (closed) {
      throw new IllegalStateException("engine is closed");
    }
    Device device = opener.open(open::remove);
    open.add(device);
    return device;
  }

  protected static VerbsException noSuchDevice(String name) {
    return new VerbsException("ibv_open_device", "no such device: name=" + name);
  }

  @Override
  public final void close() {
    closed = true;
    var failures = new CloseFailures();
    failures.closeEach(open, Device::close);
    failures.throwFirst();
  }
}
