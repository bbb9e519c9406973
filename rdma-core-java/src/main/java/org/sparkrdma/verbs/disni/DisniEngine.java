// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import java.util.List;
import java.util.function.Consumer;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.engine.EngineBase;

/** Opens the machine's devices. Safe for any thread. */
final class DisniEngine extends EngineBase {
  private final SystemDevices devices;

  DisniEngine(SystemDevices devices) {
    this.devices = devices;
  }

  @Override
  public String name() {
    return DisniProvider.NAME;
  }

  @Override
  public List<DeviceInfo> devices() {
    return devices.names().stream().map(devices::info).toList();
  }

  @Override
  protected Device newDevice(String deviceName, DeviceInfo known, Consumer<Device> onClosed)
      throws VerbsException {
    if (!devices.names().contains(deviceName)) {
      throw noSuchDevice(deviceName);
    }
    return DisniDevice.open(devices, devices.info(deviceName), onClosed);
  }
}
