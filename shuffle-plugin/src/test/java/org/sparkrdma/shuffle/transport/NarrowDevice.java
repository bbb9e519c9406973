// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.EnumSet;
import java.util.Set;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;

/** Devices that can do less than the one that does their work. */
final class NarrowDevice {
  private NarrowDevice() {}

  static Device over(Device device, int maxCompletionQueueDepth, Set<Capability> absent) {
    DeviceInfo info = narrowed(device.info(), maxCompletionQueueDepth, absent);
    return (Device)
        Proxy.newProxyInstance(
            NarrowDevice.class.getClassLoader(),
            new Class<?>[] {Device.class},
            (proxy, method, arguments) -> {
              try {
                return method.getName().equals("info") ? info : method.invoke(device, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private static DeviceInfo narrowed(
      DeviceInfo device, int maxCompletionQueueDepth, Set<Capability> absent) {
    DeviceLimits limits = device.limits();
    Set<Capability> capabilities = EnumSet.copyOf(device.capabilities());
    capabilities.removeAll(absent);
    return with(
        device,
        Math.min(limits.maxCompletionQueueDepth(), maxCompletionQueueDepth),
        limits.maxPrivateDataBytes(),
        capabilities);
  }

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
