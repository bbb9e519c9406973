// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import java.util.List;
import java.util.OptionalLong;
import org.sparkrdma.scenarios.faults.plan.Faults;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;

/** An engine whose devices are {@link FaultyDevice}. Safe for any thread. */
final class FaultyEngine implements VerbsEngine {
  private final VerbsEngine real;

  FaultyEngine(VerbsEngine real) {
    this.real = real;
  }

  @Override
  public String name() {
    return real.name();
  }

  @Override
  public List<DeviceInfo> devices() throws VerbsException {
    return real.devices();
  }

  @Override
  public Device open(String deviceName) throws VerbsException {
    return new FaultyDevice(real.open(deviceName), Faults.here());
  }

  @Override
  public OptionalLong freeMemoryBytes() {
    return real.freeMemoryBytes();
  }

  @Override
  public void close() {
    real.close();
  }
}
