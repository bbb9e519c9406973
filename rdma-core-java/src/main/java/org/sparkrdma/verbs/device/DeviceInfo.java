// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.device;

import java.util.List;
import java.util.Set;

/**
 * The facts of one device.
 *
 * @param name name in the system, such as {@code mlx5_0}
 * @param engine name of its engine
 * @param transport transport of its packets
 * @param nodeGuid its 64-bit identifier
 * @param limits its limits
 * @param capabilities its optional features
 * @param ports its ports, by number
 */
public record DeviceInfo(
    String name,
    String engine,
    Transport transport,
    long nodeGuid,
    DeviceLimits limits,
    Set<Capability> capabilities,
    List<PortInfo> ports) {
  public DeviceInfo {
    capabilities = Set.copyOf(capabilities);
    ports = List.copyOf(ports);
  }

  /** Whether the device has this capability. */
  public boolean can(Capability capability) {
    return capabilities.contains(capability);
  }
}
