// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.Set;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;

/** Properties of devices that can do less than the one that does their work. */
final class DeviceInfos {
  private DeviceInfos() {}

  /** A device's properties with other capabilities and two other limits. */
  static DeviceInfo with(
      DeviceInfo device,
      int maxCompletionQueueDepth,
      int maxPrivateDataBytes,
      Set<Capability> capabilities) {
    DeviceLimits limits = device.limits();
    return new DeviceInfo(
        device.name(),
        device.engine(),
        device.transport(),
        device.nodeGuid(),
        new DeviceLimits(
            limits.maxQueuePairs(),
            limits.maxQueuePairDepth(),
            limits.maxSge(),
            limits.maxReadSge(),
            maxCompletionQueueDepth,
            limits.maxMemoryRegions(),
            limits.maxMemoryRegionBytes(),
            limits.maxMessageBytes(),
            limits.maxReadsInFlight(),
            maxPrivateDataBytes,
            limits.completionVectors()),
        capabilities,
        device.ports(),
        device.reported());
  }
}
