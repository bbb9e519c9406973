// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.engine.CloseFailures;

/** Opens the machine's devices, each of which may be open several times. */
final class DisniEngine implements VerbsEngine {
  private final SystemDevices devices;
  private final DisniSettings settings;
  private final Set<Device> open = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  DisniEngine(SystemDevices devices, DisniSettings settings) {
    this.devices = devices;
    this.settings = settings;
  }

  @Override
  public String name() {
    return DisniSettings.NAME;
  }

  @Override
  public List<DeviceInfo> devices() {
    return devices.names().stream().map(devices::info).toList();
  }

  @Override
  public Device open(String deviceName) throws VerbsException {
    if (closed) {
      throw new IllegalStateException("engine is closed");
    }
    if (!devices.names().contains(deviceName)) {
      throw new VerbsException("ibv_open_device", "no such device: name=" + deviceName);
    }
    DeviceContext context = DeviceContext.open(devices, devices.info(deviceName));
    var device = new DisniDevice(context, settings, Thread::new, open::remove);
    open.add(device);
    return device;
  }

  @Override
  public void close() {
    closed = true;
    var failures = new CloseFailures();
    failures.closeEach(open, Device::close);
    failures.throwFirst();
  }
}
