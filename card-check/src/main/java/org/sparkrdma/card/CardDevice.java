// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.List;
import java.util.stream.Collectors;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;

/**
 * The device to test.
 *
 * @param info facts of the device
 * @param port its first active port with an address
 * @param addresses of that port, by which the engine finds this device and no other; never empty
 */
record CardDevice(DeviceInfo info, PortInfo port, List<InetAddress> addresses) {
  /**
   * Finds a device by its name.
   *
   * @param devices of this host
   * @throws NotUsableException when there is no such device or no active port with an address
   */
  static CardDevice find(List<DeviceInfo> devices, String name) throws NotUsableException {
    DeviceInfo info =
        devices.stream()
            .filter(device -> device.name().equals(name))
            .findFirst()
            .orElseThrow(() -> unknown(devices, name));
    List<PortInfo> active = info.ports().stream().filter(CardDevice::isActive).toList();
    if (active.isEmpty()) {
      throw new NotUsableException(
          ("device %s has no active port (%s); found: %s; connect it, or on InfiniBand start a subnet"
                  + " manager, until ibv_devinfo shows PORT_ACTIVE")
              .formatted(name, states(info), found(devices)));
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
    throw new NotUsableException(withoutAddress(devices, name, active));
  }

  private static NotUsableException unknown(List<DeviceInfo> devices, String name) {
    return new NotUsableException(
        devices.isEmpty()
            ? ("there is no RDMA device %s on this host, and no other; load the driver of the card, then"
                    + " see ibv_devices")
                .formatted(name)
            : "there is no RDMA device %s on this host; found: %s; give the name of one of these"
                .formatted(name, found(devices)));
  }

  private static String withoutAddress(
      List<DeviceInfo> devices, String name, List<PortInfo> active) {
    int port = active.get(0).number();
    boolean shared =
        active.stream()
            .flatMap(one -> one.addresses().stream())
            .anyMatch(address -> !address.isLinkLocalAddress());
    return shared
        ? ("the addresses of device %s port %d belong to another RDMA device as well; found: %s;"
                + " remove the other one, or give that name")
            .formatted(name, port, found(devices))
        : ("device %s has no IPv4 or IPv6 address on its active port %d; found: %s; give its network"
                + " interface an address: ip addr add ADDRESS/PREFIX dev INTERFACE")
            .formatted(name, port, found(devices));
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

  private static boolean isActive(PortInfo port) {
    return port.state() == PortState.ACTIVE;
  }

  private static String states(DeviceInfo info) {
    return info.ports().stream()
        .map(port -> "port " + port.number() + " is " + port.state())
        .collect(Collectors.joining(", "));
  }

  private static String found(List<DeviceInfo> devices) {
    return devices.stream().map(DeviceInfo::name).collect(Collectors.joining(", "));
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

  /** An IPv6 address; null without one. */
  InetAddress addressV6() {
    return addresses.stream().filter(Inet6Address.class::isInstance).findFirst().orElse(null);
  }
}
