// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.PortInfo;

/**
 * Speed of a port, as the kernel names it in sysfs: {@code 100 Gb/sec (4X EDR)}. Keeps the last
 * one. Confined to one thread.
 */
final class LinkSpeed {
  private final Path devices;
  private String device = "";
  private String speed = "";

  LinkSpeed() {
    this(Path.of("/sys/class/infiniband"));
  }

  /**
   * @param devices the directory with one entry for each RDMA device
   */
  LinkSpeed(Path devices) {
    this.devices = devices;
  }

  /** Speed of the port with the first address; empty where it is not known. */
  String of(DeviceInfo info, List<ListenerAddress> addresses) {
    if (!info.name().equals(device)) {
      device = info.name();
      InetAddress address = addresses.get(0).network().address();
      speed =
          info.ports().stream()
              .filter(
                  port ->
                      port.addresses().contains(address)
                          || port.gids().stream().anyMatch(gid -> gid.address().equals(address)))
              .findFirst()
              .map(this::read)
              .orElse("");
    }
    return speed;
  }

  private String read(PortInfo port) {
    try {
      Path rate = devices.resolve(device).resolve("ports/" + port.number() + "/rate");
      return Files.readString(rate, StandardCharsets.ISO_8859_1).trim();
    } catch (IOException | InvalidPathException e) {
      return "";
    }
  }
}
