// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;

/** A device whose completion queues have a small maximum capacity; another device does the work. */
final class NarrowDevice {
  private NarrowDevice() {}

  static Device over(Device device, int maxCompletionQueueDepth) {
    DeviceInfo info = narrowed(device.info(), maxCompletionQueueDepth);
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

  private static DeviceInfo narrowed(DeviceInfo device, int maxCompletionQueueDepth) {
    DeviceLimits limits = device.limits();
    return DeviceInfos.with(
        device,
        Math.min(limits.maxCompletionQueueDepth(), maxCompletionQueueDepth),
        limits.maxPrivateDataBytes(),
        device.capabilities());
  }
}
