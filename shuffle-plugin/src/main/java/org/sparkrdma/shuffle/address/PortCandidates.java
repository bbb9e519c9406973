// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.sparkrdma.shuffle.address.Candidate.Reach;
import org.sparkrdma.shuffle.settings.DeviceSelector;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.TransportType;

/** All addresses on active ports that a selector allows. Stateless. */
final class PortCandidates {
  private static final String ETHERNET_COMMANDS =
      "ip link set INTERFACE up && ip addr add ADDRESS/PREFIX dev INTERFACE";
  private static final String IPOIB_COMMANDS =
      "modprobe ib_ipoib && ip link set ib0 up && ip addr add ADDRESS/PREFIX dev ib0";

  private PortCandidates() {}

  /**
   * At least one candidate.
   *
   * @param networks gives an address of this host with the prefix length of its subnet
   * @throws PortNotReadyException when no selected port is active and has a usable address now
   * @throws VerbsException when no device is usable, with a reason for each
   */
  static List<Candidate> of(
      List<DeviceInfo> devices,
      DeviceSelector selector,
      Function<InetAddress, NetworkAddress> networks)
      throws VerbsException {
    Predicate<InetAddress> allowed = allowed(selector);
    List<String> refused = new ArrayList<>();
    List<Candidate> candidates = new ArrayList<>();
    boolean selected = false;
    for (DeviceInfo device : devices) {
      if (!selector.devices().isEmpty() && !selector.devices().contains(device.name())) {
        refused.add(device.name() + " is not in spark.shuffle.rdma.device");
        continue;
      }
      for (PortInfo port : device.ports()) {
        selected = true;
        List<Candidate> ofPort = ofPort(device, port, selector, allowed, networks);
        candidates.addAll(ofPort);
        if (ofPort.isEmpty()) {
          refused.add(
              device.name() + " port " + port.number() + " " + objection(device, port, selector));
        }
      }
    }
    for (String name : selector.devices()) {
      if (devices.stream().noneMatch(device -> device.name().equals(name))) {
        refused.add(name + " does not exist");
      }
    }
    if (candidates.isEmpty()) {
      String reason = "no usable device: " + String.join(", ", refused);
      throw selected ? new PortNotReadyException(reason) : new VerbsException("open", reason);
    }
    return candidates;
  }

  private static Predicate<InetAddress> allowed(DeviceSelector selector) throws VerbsException {
    if (selector.address().isEmpty()) {
      return address -> isReachable(address, selector.sparkHost());
    }
    String text = selector.address().get();
    try {
      return AddressSetting.of(text);
    } catch (IOException e) {
      throw new VerbsException("listen", "cannot use address=" + text + ": " + e.getMessage(), e);
    }
  }

  /** Addresses that other hosts can reach; loopback where Spark itself uses it. */
  private static boolean isReachable(InetAddress address, InetAddress sparkHost) {
    return !address.isLinkLocalAddress()
        && (!address.isLoopbackAddress() || sparkHost.isLoopbackAddress());
  }

  /**
   * The usable addresses of a port, without link-local ones beside others: those look alike on
   * every link.
   */
  private static List<Candidate> ofPort(
      DeviceInfo device,
      PortInfo port,
      DeviceSelector selector,
      Predicate<InetAddress> allowed,
      Function<InetAddress, NetworkAddress> networks) {
    if (port.state() != PortState.ACTIVE) {
      return List.of();
    }
    List<Candidate> usable = new ArrayList<>();
    List<Candidate> onLink = new ArrayList<>();
    for (InetAddress address : port.addresses()) {
      if (allowed.test(address) && hasSelectedGid(port, address, selector)) {
        (address.isLinkLocalAddress() ? onLink : usable)
            .add(
                new Candidate(
                    device, port, networks.apply(address), reach(address, selector.sparkHost())));
      }
    }
    return usable.isEmpty() ? onLink : usable;
  }

  /** Whether the selected GID has this address, or no GID is selected. */
  private static boolean hasSelectedGid(
      PortInfo port, InetAddress address, DeviceSelector selector) {
    return !hasGid(selector)
        || gids(port, selector).stream().anyMatch(gid -> hasAddress(gid, address));
  }

  /** The selected GID of a port; empty when it has none of that index. */
  private static List<Gid> gids(PortInfo port, DeviceSelector selector) {
    int index = selector.gid().getAsInt();
    return port.gids().stream().filter(gid -> gid.index() == index).toList();
  }

  private static boolean hasGid(DeviceSelector selector) {
    return selector.gid().isPresent();
  }

  /** The reason why a port has no candidate, and the remedy. */
  private static String objection(DeviceInfo device, PortInfo port, DeviceSelector selector) {
    List<InetAddress> addresses = port.addresses();
    if (port.state() != PortState.ACTIVE) {
      return "is not active: state=" + port.state();
    }
    if (hasGid(selector) && gids(port, selector).isEmpty()) {
      return "has no GID with index=" + selector.gid().getAsInt();
    }
    if (!addresses.isEmpty() && addresses.stream().allMatch(InetAddress::isLinkLocalAddress)) {
      return "has only link-local addresses, which are in one subnet on every link: addresses="
          + text(addresses)
          + ": give its network interface another one (ip addr add ADDRESS/PREFIX dev INTERFACE),"
          + " or where all hosts are on one link, set spark.shuffle.rdma.listen.address="
          + (addresses.get(0) instanceof Inet6Address ? "fe80::/10" : "169.254.0.0/16");
    }
    if (!addresses.isEmpty() || device.transport() == TransportType.LOOPBACK) {
      return "has no usable address: addresses=" + text(addresses);
    }
    boolean infiniBand = port.gids().stream().anyMatch(gid -> gid.type() == GidType.INFINIBAND);
    return "has no IP address in this network namespace: give its network interface one ("
        + (infiniBand ? IPOIB_COMMANDS : ETHERNET_COMMANDS)
        + ") or give a container the network of its host";
  }

  /** A GID of RoCE is an address; elsewhere the port's addresses belong to all its GIDs. */
  private static boolean hasAddress(Gid gid, InetAddress address) {
    return switch (gid.type()) {
      case ROCE_V1, ROCE_V2, LOOPBACK -> gid.address().equals(address);
      case INFINIBAND, IWARP -> true;
    };
  }

  private static Reach reach(InetAddress address, InetAddress sparkHost) {
    if (address.equals(sparkHost)) {
      return Reach.SPARK_ITSELF;
    }
    return address.getClass() == sparkHost.getClass() ? Reach.SAME_FAMILY : Reach.OTHER_FAMILY;
  }

  private static String text(List<InetAddress> addresses) {
    return String.join(" ", addresses.stream().map(InetAddress::getHostAddress).toList());
  }
}
