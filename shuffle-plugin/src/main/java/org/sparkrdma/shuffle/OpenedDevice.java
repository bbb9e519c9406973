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

import org.sparkrdma.shuffle.device.DeviceChoice;
import org.sparkrdma.shuffle.device.DeviceSelector;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;

/** An engine, the device of it that is used, and why; closed by the runtime, last. */
record OpenedDevice(VerbsEngine engine, Device device, DeviceChoice choice)
    implements AutoCloseable {
  /**
   * Opens the device that suits the selector best. Takes the engine over: when this fails it is
   * closed.
   *
   * @throws VerbsException when there is none or it cannot be opened
   */
  static OpenedDevice open(VerbsEngine engine, DeviceSelector selector) throws VerbsException {
    try {
      DeviceChoice choice = DeviceChoice.of(engine.devices(), selector);
      return new OpenedDevice(engine, engine.open(choice.device()), choice);
    } catch (VerbsException | RuntimeException e) {
      engine.close();
      throw e;
    }
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
