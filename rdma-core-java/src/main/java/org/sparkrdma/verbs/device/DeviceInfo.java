// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.device;

import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The facts of one device.
 *
 * @param name name in the system, such as {@code mlx5_0}
 * @param engine name of its engine
 * @param transport transport of its packets
 * @param nodeGuid its 64-bit identifier; 0 where unknown
 * @param limits its limits
 * @param capabilities its optional features
 * @param ports its ports, by number
 * @param reported everything that the device reports, for people: values by the names of
 *     ibv_devinfo(1), each a Long, a String, or a List of Strings; empty for engines without
 */
public record DeviceInfo(
    String name,
    String engine,
    TransportType transport,
    long nodeGuid,
    DeviceLimits limits,
    Set<Capability> capabilities,
    List<PortInfo> ports,
    Map<String, Object> reported) {
  /**
   * Copies the collections.
   *
   * @param name see {@link #name()}
   * @param engine see {@link #engine()}
   * @param transport see {@link #transport()}
   * @param nodeGuid see {@link #nodeGuid()}
   * @param limits see {@link #limits()}
   * @param capabilities see {@link #capabilities()}
   * @param ports see {@link #ports()}
   * @param reported see {@link #reported()}
   */
  public DeviceInfo {
    capabilities = Set.copyOf(capabilities);
    ports = List.copyOf(ports);
    // Keeps the order.
    reported = Collections.unmodifiableMap(new LinkedHashMap<>(reported));
  }

  /**
   * The facts of a device that reports no more.
   *
   * @param name name in the system
   * @param engine name of its engine
   * @param transport transport of its packets
   * @param nodeGuid its 64-bit identifier; 0 where unknown
   * @param limits its limits
   * @param capabilities its optional features
   * @param ports its ports, by number
   */
  public DeviceInfo(
      String name,
      String engine,
      TransportType transport,
      long nodeGuid,
      DeviceLimits limits,
      Set<Capability> capabilities,
      List<PortInfo> ports) {
    this(name, engine, transport, nodeGuid, limits, capabilities, ports, Map.of());
  }

  /**
   * {@return whether the device has this capability}
   *
   * @param capability an optional feature
   */
  public boolean can(Capability capability) {
    return capabilities.contains(capability);
  }

  /**
   * {@return the facts of the same device without this capability}
   *
   * @param capability an optional feature
   */
  public DeviceInfo without(Capability capability) {
    var fewer = new HashSet<>(capabilities);
    fewer.remove(capability);
    return new DeviceInfo(name, engine, transport, nodeGuid, limits, fewer, ports, reported);
  }
}
