// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.device.DeviceChoice;
import org.sparkrdma.verbs.device.DeviceInfo;

/**
 * Result of opening a device, for one of its active ports.
 *
 * @param device attributes from its engine
 * @param port counted from 1; empty for a device without an active port
 * @param addresses of the port that peers could use, the preferred one first
 * @param failure why an executor could not use the port; empty when it could
 * @param directories as {@link Probe#directories()}
 * @param exclusion why the settings exclude the port; empty when they do not
 */
public record PortProbe(
    DeviceInfo device,
    OptionalInt port,
    List<NetworkAddress> addresses,
    Optional<String> failure,
    Map<Path, Optional<String>> directories,
    Optional<String> exclusion) {
  /** Keeps copies. */
  public PortProbe {
    addresses = List.copyOf(addresses);
    directories = Map.copyOf(directories);
  }

  /** Whether an executor could use the port. */
  public boolean usable() {
    return failure.isEmpty();
  }

  /** The device and its port, in words. */
  public String name() {
    return device.name() + (port.isPresent() ? " port " + port.getAsInt() : "");
  }

  /** The port as a choice; of a usable port. */
  public DeviceChoice choice() {
    return new DeviceChoice(device, port.orElseThrow(), addresses, "opened by --all");
  }
}
