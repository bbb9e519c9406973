// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;

/** Opens the machine's devices, each of which may be open several times. */
final class IbverbsEngine implements VerbsEngine {
  private final Libraries libraries;
  private final IbverbsSettings settings;
  private final DeviceScan scan = new DeviceScan();
  private final Set<Device> open = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  IbverbsEngine(Libraries libraries, IbverbsSettings settings) {
    this.libraries = libraries;
    this.settings = settings;
  }

  @Override
  public String name() {
    return IbverbsSettings.NAME;
  }

  @Override
  public List<DeviceInfo> devices() throws VerbsException {
    try (Contexts contexts = Contexts.open(libraries)) {
      return scan.run(contexts.all(), this::facts);
    }
  }

  @Override
  public Device open(String deviceName) throws VerbsException {
    return open(deviceName, this::facts);
  }

  @Override
  public Device open(DeviceInfo device) throws VerbsException {
    return open(device.name(), context -> device);
  }

  private Device open(String deviceName, DeviceScan.Query facts) throws VerbsException {
    if (closed) {
      throw new IllegalStateException("engine is closed");
    }
    Contexts contexts = Contexts.open(libraries);
    try {
      for (long context : contexts.all()) {
        if (Contexts.name(context).equals(deviceName)) {
          DeviceInfo info = facts.of(context);
          Driver driver = Driver.of(libraries.verbs(), context);
          var device =
              new IbverbsDevice(libraries, settings, contexts, context, driver, info, open::remove);
          open.add(device);
          return device;
        }
      }
      throw new VerbsException("ibv_open_device", "no such device: name=" + deviceName);
    } catch (VerbsException | RuntimeException e) {
      contexts.close();
      throw e;
    }
  }

  private DeviceInfo facts(long context) throws VerbsException {
    return DeviceFacts.of(libraries, context, settings, scan::skip);
  }

  @Override
  public void close() {
    closed = true;
    open.forEach(Device::close);
  }
}
