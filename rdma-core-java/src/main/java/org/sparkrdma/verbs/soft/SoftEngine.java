// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.engine.CloseFailures;
import org.sparkrdma.verbs.soft.shared.HostIdentity;

/** Opens the one soft device, which may be open several times. Safe for any thread. */
final class SoftEngine implements VerbsEngine {
  private final SoftSettings settings;
  private final HostIdentity host;
  private final boolean copiesReads;
  private final Set<Device> open = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  SoftEngine(SoftSettings settings, HostIdentity host, boolean copiesReads) {
    this.settings = settings;
    this.host = host;
    this.copiesReads = copiesReads;
  }

  @Override
  public String name() {
    return SoftProvider.NAME;
  }

  @Override
  public List<DeviceInfo> devices() throws VerbsException {
    return List.of(SoftDeviceFacts.info(settings, host));
  }

  @Override
  public Device open(String deviceName) throws VerbsException {
    if (closed) {
      throw new IllegalStateException("engine is closed");
    }
    if (!deviceName.equals(SoftDeviceFacts.NAME)) {
      throw new VerbsException("ibv_open_device", "no such device: name=" + deviceName);
    }
    Device device = SoftDevice.open(settings, host, copiesReads, open::remove);
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
