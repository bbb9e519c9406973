// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.File;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.engine.EngineBase;
import org.sparkrdma.verbs.soft.shared.HostIdentity;

/** Opens the one soft device, which may be open several times. Safe for any thread. */
final class SoftEngine extends EngineBase {
  private final SoftSettings settings;
  private final HostIdentity host;
  private final boolean copiesReads;

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
    return List.of(SoftDevice.info(host));
  }

  @Override
  public OptionalLong freeMemoryBytes() {
    File directory = settings.directory().toFile();
    // A tmpfs without a limit reports 0.
    return directory.getTotalSpace() == 0
        ? OptionalLong.empty()
        : OptionalLong.of(directory.getUsableSpace());
  }

  @Override
  protected Device newDevice(String deviceName, DeviceInfo known, Consumer<Device> onClosed)
      throws VerbsException {
    if (!deviceName.equals(SoftDevice.NAME)) {
      throw noSuchDevice(deviceName);
    }
    return SoftDevice.open(settings, host, copiesReads, Thread::new, onClosed);
  }
}
