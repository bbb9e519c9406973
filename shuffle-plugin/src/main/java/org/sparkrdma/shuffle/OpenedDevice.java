/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;

/** An engine and the device of it that is used; closed by the runtime, last. */
record OpenedDevice(VerbsEngine engine, Device device) implements AutoCloseable {
  /**
   * Opens the device asked for, or the first that has an active port. Takes the engine over: when
   * this fails it is closed.
   *
   * @param name of the device; empty for any
   * @throws VerbsException when there is none or it cannot be opened
   */
  static OpenedDevice open(VerbsEngine engine, Optional<String> name) throws VerbsException {
    try {
      return new OpenedDevice(engine, engine.open(choose(engine.devices(), name)));
    } catch (VerbsException | RuntimeException e) {
      engine.close();
      throw e;
    }
  }

  private static String choose(List<DeviceInfo> devices, Optional<String> name)
      throws VerbsException {
    List<String> refused = new ArrayList<>();
    for (DeviceInfo device : devices) {
      boolean wanted = name.isEmpty() || name.get().equals(device.name());
      if (wanted && device.ports().stream().anyMatch(OpenedDevice::carriesData)) {
        return device.name();
      }
      refused.add(device.name() + (wanted ? " has no active port" : " was not asked for"));
    }
    throw new VerbsException("open", "no usable device: " + String.join(", ", refused));
  }

  private static boolean carriesData(PortInfo port) {
    return port.state() == PortState.ACTIVE;
  }

  @Override
  public void close() {
    try {
      device.close();
    } finally {
      engine.close();
    }
  }
}
