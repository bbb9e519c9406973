// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;

/**
 * A loaded engine and its open devices, each of which may be open several times. {@link #close}
 * closes the devices that are still open. Safe for any thread.
 */
public abstract class EngineBase implements VerbsEngine {
  private final Set<Device> open = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  @Override
  public final Device open(String deviceName) throws VerbsException {
    return open(deviceName, null);
  }

  @Override
  public final Device open(DeviceInfo device) throws VerbsException {
    return open(device.name(), device);
  }

  private Device open(String deviceName, DeviceInfo known) throws VerbsException {
    if (closed) {
      throw new IllegalStateException("engine is closed");
    }
    Device device = newDevice(deviceName, known, open::remove);
    open.add(device);
    return device;
  }

  /**
   * Opens a device.
   *
   * @param known its facts; null when they must be queried
   * @param onClosed to be called with it after its close
   */
  protected abstract Device newDevice(
      String deviceName, DeviceInfo known, Consumer<Device> onClosed) throws VerbsException;

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
