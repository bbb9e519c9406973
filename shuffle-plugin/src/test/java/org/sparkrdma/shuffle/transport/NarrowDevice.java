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

/** A device that can do less than the one that does its work. */
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
    return DeviceInfos.with(
        device,
        Math.min(limits.maxCompletionQueueDepth(), maxCompletionQueueDepth),
        limits.maxPrivateDataBytes(),
        capabilities);
  }
}
