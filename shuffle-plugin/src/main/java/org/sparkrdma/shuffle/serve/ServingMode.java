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
package org.sparkrdma.shuffle.serve;

import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.verbs.Device;

/**
 * How this server makes blocks readable. Immutable.
 *
 * @param fromWindows whether map-output files are registered
 * @param windowBytes length of a window
 * @param copyPolicy when to copy out of an unregistered window; null to register at once
 */
record ServingMode(boolean fromWindows, int windowBytes, CopyOrRegisterPolicy copyPolicy) {
  /**
   * The mode that these settings have on a device.
   *
   * @param hasSlots whether copying is on
   */
  static ServingMode of(ServeSettings settings, Device device, boolean hasSlots) {
    boolean fromWindows = settings.registersFiles(device);
    // Registration without pinning is cheap.
    boolean pinned = fromWindows && !settings.pagesOnDemand(device);
    boolean both = pinned && hasSlots && settings.copiesFirst();
    return new ServingMode(
        fromWindows,
        settings.windowBytes(),
        both ? new CopyOrRegisterPolicy(device.info().transport()) : null);
  }
}
