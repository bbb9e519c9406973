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
package org.sparkrdma.scenarios.faults.engine;

import java.util.List;
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
  public void close() {
    real.close();
  }
}
