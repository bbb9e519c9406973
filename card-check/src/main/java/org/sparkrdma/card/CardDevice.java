// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * The device to test.
 *
 * @param info facts of the device
 * @param port its first active port with an address
 * @param addresses of that port, by which the engine finds this device and no other; never empty
 */
record CardDevice(DeviceInfo info, PortInfo port, List<InetAddress> addresses) {
  static final String ENGINE = "ibverbs";

  /**
   * The devices of this host, in the order of the engine.
   *
   * @throws NotUsableException when the engine cannot run here
   */
  static List<DeviceInfo> list() {
    Verbs.Choice choice = Verbs.choose(ENGINE, EngineSettings.none());
    if (choice.engine() == null) {
      throw new NotUsableException(
          "RDMA cannot be used on this host: %s; what to do says: java -jar spark-rdma-shuffle.jar doctor"
              .formatted(String.join("; ", choice.reasons())));
    }
    try (VerbsEngine engine = choice.engine()) {
      return engine.devices();
    } catch (VerbsException e) {
      throw new NotUsableException("RDMA cannot be used on this host: " + e.getMessage());
    }
  }

  /**
   * Finds a device by its name.
   *
   * @param devices of this host
   * @param given null for the only one
   * @throws NotUsableException when there is no such device or no active port with an address
   */
  static CardDevice find(List<DeviceInfo> devices, String given) {
    if (given == null && devices.size() != 1) {
      throw new NotUsableException(
          "this host has %d RDMA devices that can be tested; found: %s; give the name of one of these, as in ./card mlx5_0"
              .formatted(devices.size(), found(devices)));
    }
    String name = given == null ? devices.get(0).name() : given;
    DeviceInfo info =
        devices.stream()
            .filter(device -> device.name().equals(name))
            .findFirst()
            .orElseThrow(
                () ->
                    new NotUsableException(
                        "there is no RDMA device %s on this host; found: %s; give the name of one of these"
                            .formatted(name, found(devices))));
    List<PortInfo> active =
        info.ports().stream().filter(port -> port.state() == PortState.ACTIVE).toList();
    if (active.isEmpty()) {
      String states =
          info.ports().stream()
              .map(port -> "port " + port.number() + " is " + port.state())
              .collect(Collectors.joining(", "));
      throw new NotUsableException(
          ("device %s has no active port (%s); connect it, or on InfiniBand start a subnet manager,"
                  + " until ibv_devinfo shows PORT_ACTIVE")
              .formatted(name, states));
    }
    for (PortInfo port : active) {
      List<InetAddress> own =
          port.addresses().stream()
              .filter(address -> !address.isLinkLocalAddress())
              .filter(address -> isFoundByItsAddress(devices, name, address))
              .toList();
      if (!own.isEmpty()) {
        return new CardDevice(info, port, own);
      }
    }
    throw new NotUsableException(
        ("device %s has no IPv4 or IPv6 address of its own on an active port; found: %s; give its"
                + " network interface an address that no other device has: ip addr add"
                + " ADDRESS/PREFIX dev INTERFACE")
            .formatted(name, found(devices)));
  }

  /** The suite opens the first device that has the address. */
  private static boolean isFoundByItsAddress(
      List<DeviceInfo> devices, String name, InetAddress address) {
    return devices.stream()
        .filter(
            device -> device.ports().stream().anyMatch(port -> port.addresses().contains(address)))
        .findFirst()
        .map(device -> device.name().equals(name))
        .orElse(false);
  }

  private static String found(List<DeviceInfo> devices) {
    return devices.isEmpty()
        ? "none"
        : devices.stream().map(DeviceInfo::name).collect(Collectors.joining(", "));
  }

  String name() {
    return info.name();
  }

  /** The address of both ends: IPv4 where there is one. */
  InetAddress address() {
    return addresses.stream()
        .filter(Inet4Address.class::isInstance)
        .findFirst()
        .orElse(addresses.get(0));
  }

  Optional<InetAddress> addressV6() {
    return addresses.stream().filter(Inet6Address.class::isInstance).findFirst();
  }
}
