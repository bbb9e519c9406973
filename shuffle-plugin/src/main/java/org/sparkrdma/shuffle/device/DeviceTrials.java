// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.device;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.sparkrdma.shuffle.address.HostAddresses;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.settings.DeviceSelector;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;

/**
 * Starts on the chosen device, or on the next best one that peers of the first can reach: a device
 * that fails must not disable the others.
 */
public final class DeviceTrials {
  private final List<DeviceInfo> devices;
  private final DeviceSelector selector;
  private final HostAddresses host;

  /**
   * @param devices of an engine
   * @param host facts about the addresses of this host
   */
  public DeviceTrials(List<DeviceInfo> devices, DeviceSelector selector, HostAddresses host) {
    this.devices = List.copyOf(devices);
    this.selector = selector;
    this.host = host;
  }

  /** Starts on a device. */
  @FunctionalInterface
  public interface Start<T> {
    /**
     * @throws VerbsException when the device cannot be used; nothing of it is open then
     */
    T on(DeviceChoice choice) throws VerbsException;
  }

  /** Receives each device that did not start although another one is tried. */
  @FunctionalInterface
  public interface OnFailure {
    void failed(DeviceChoice failed, VerbsException reason, DeviceChoice next);
  }

  /**
   * Tries the devices until one starts.
   *
   * @throws VerbsException when no device is usable, or none starts; with each reason once
   */
  public <T> T run(Start<T> start, OnFailure onFailure) throws VerbsException {
    DeviceChoice first = DeviceChoice.of(devices, selector, host);
    List<DeviceInfo> untried = new ArrayList<>(devices);
    Set<String> reasons = new LinkedHashSet<>();
    DeviceChoice choice = first;
    while (true) {
      try {
        return start.on(choice);
      } catch (VerbsException e) {
        reasons.add(e.getMessage());
        String name = choice.device().name();
        untried.removeIf(device -> device.name().equals(name));
        Optional<DeviceChoice> next = next(untried, first);
        if (next.isEmpty()) {
          throw reasons.size() == 1 ? e : new VerbsException("open", String.join("; ", reasons), e);
        }
        onFailure.failed(choice, e, next.get());
        choice = next.get();
      }
    }
  }

  /** The best of the other devices, if it is in the subnet of the first, or a router joins them. */
  private Optional<DeviceChoice> next(List<DeviceInfo> untried, DeviceChoice first) {
    List<DeviceInfo> rest = new ArrayList<>(untried);
    try {
      while (true) {
        DeviceChoice choice = DeviceChoice.of(rest, selector, host);
        NetworkAddress address = choice.addresses().get(0);
        // Another device may be on another link, which has the same link-local subnet.
        boolean reachable =
            !address.isLinkLocal()
                && (address.isOnSubnetOf(first.addresses().get(0))
                    || (selector.routed() && !address.isGid()));
        if (reachable && choice.device().transport() == first.device().transport()) {
          return Optional.of(choice);
        }
        rest.removeIf(device -> device.name().equals(choice.device().name()));
      }
    } catch (VerbsException e) {
      // No usable device is left.
      return Optional.empty();
    }
  }
}
