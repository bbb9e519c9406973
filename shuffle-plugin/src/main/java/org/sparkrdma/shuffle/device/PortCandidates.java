// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.device;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.sparkrdma.shuffle.address.HostAddresses;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.device.Candidate.Reach;
import org.sparkrdma.shuffle.settings.DeviceSelector;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.GidSocketAddress;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.Transport;

/** All addresses on active ports that a selector allows. Stateless. */
final class PortCandidates {
  private PortCandidates() {}

  /**
   * At least one candidate.
   *
   * @param host facts about the addresses of this host
   * @throws PortNotReadyException when no selected port is active and has a usable address now
   * @throws VerbsException when no device is usable, with a reason for each
   */
  static List<Candidate> of(List<DeviceInfo> devices, DeviceSelector selector, HostAddresses host)
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
        String objection = objection(port, selector);
        selected |= isSelected(port, selector);
        if (objection == null) {
          objection = addCandidates(candidates, device, port, selector, allowed, host);
        }
        if (objection != null) {
          refused.add(device.name() + " port " + port.number() + " " + objection);
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
      return AddressRule.of(text);
    } catch (IOException e) {
      throw new VerbsException("listen", "cannot use address=" + text + ": " + e.getMessage(), e);
    }
  }

  /** Addresses that other hosts can reach; loopback where Spark itself uses it. */
  private static boolean isReachable(InetAddress address, InetAddress sparkHost) {
    return !address.isLinkLocalAddress()
        && (!address.isLoopbackAddress() || sparkHost.isLoopbackAddress());
  }

  private static boolean isSelected(PortInfo port, DeviceSelector selector) {
    return selector.port().isEmpty() || selector.port().getAsInt() == port.number();
  }

  private static String objection(PortInfo port, DeviceSelector selector) {
    if (!isSelected(port, selector)) {
      return "is not spark.shuffle.rdma.device.port";
    }
    if (port.state() != PortState.ACTIVE) {
      return "is not active: state=" + port.state();
    }
    return null;
  }

  private static String addCandidates(
      List<Candidate> candidates,
      DeviceInfo device,
      PortInfo port,
      DeviceSelector selector,
      Predicate<InetAddress> allowed,
      HostAddresses host) {
    List<Gid> gids = port.gids().stream().filter(gid -> matches(gid, selector)).toList();
    if (gids.isEmpty() && (selector.gid().isPresent() || selector.gidType().isPresent())) {
      return "has no GID with index="
          + (selector.gid().isPresent() ? selector.gid().getAsInt() : "any")
          + " and type="
          + selector.gidType().map(GidType::name).orElse("any");
    }
    boolean restricted = selector.gid().isPresent() || selector.gidType().isPresent();
    List<InetAddress> usable =
        port.addresses().stream()
            .filter(allowed)
            .filter(at -> !restricted || gids.stream().anyMatch(gid -> hasAddress(gid, at)))
            .toList();
    for (InetAddress address : lasting(beyondLink(usable), selector.sparkHost(), host)) {
      Reach reach = reach(address, selector.sparkHost());
      candidates.add(new Candidate(device, port, host.network(address), reach));
    }
    if (!usable.isEmpty() || addGid(candidates, device, port, gids, allowed, selector)) {
      return null;
    }
    return objectionToAddresses(device, port);
  }

  /**
   * Adds the first usable GID of an InfiniBand port without an IP address, where the engine
   * connects by GID. A port with a link-local address has an IPoIB interface, which may get another
   * address yet.
   *
   * @param gids of the port that the selector allows, in the order of its table
   * @return whether there is one
   */
  private static boolean addGid(
      List<Candidate> candidates,
      DeviceInfo device,
      PortInfo port,
      List<Gid> gids,
      Predicate<InetAddress> allowed,
      DeviceSelector selector) {
    if (!device.can(Capability.GID_ADDRESSES) || !port.addresses().isEmpty()) {
      return false;
    }
    Optional<Gid> first =
        gids.stream()
            .filter(gid -> gid.type() == GidType.INFINIBAND)
            .filter(gid -> GidSocketAddress.isUnicast(gid.address()))
            .filter(gid -> selector.address().isEmpty() || allowed.test(gid.address()))
            .min(Comparator.comparingInt(Gid::index));
    first.ifPresent(
        gid ->
            candidates.add(
                new Candidate(device, port, NetworkAddress.ofGid(gid.address()), Reach.BY_GID)));
    return first.isPresent();
  }

  /** Removes link-local addresses beside others: they look alike on every link. */
  private static List<InetAddress> beyondLink(List<InetAddress> usable) {
    List<InetAddress> others =
        usable.stream().filter(address -> !address.isLinkLocalAddress()).toList();
    return others.isEmpty() ? usable : others;
  }

  /**
   * Removes short-lived addresses beside others of their family; Spark uses its own in any case.
   */
  private static List<InetAddress> lasting(
      List<InetAddress> usable, InetAddress sparkHost, HostAddresses host) {
    List<InetAddress> lasting =
        usable.stream()
            .filter(address -> address.equals(sparkHost) || !host.isShortLived(address))
            .toList();
    return usable.stream()
        .filter(
            address ->
                lasting.contains(address)
                    || lasting.stream().noneMatch(other -> other.getClass() == address.getClass()))
        .toList();
  }

  private static String objectionToAddresses(DeviceInfo device, PortInfo port) {
    List<InetAddress> addresses = port.addresses();
    if (!addresses.isEmpty() && addresses.stream().allMatch(InetAddress::isLinkLocalAddress)) {
      return "has only link-local addresses, which are in one subnet on every link: addresses="
          + text(addresses)
          + ": give its network interface another one (ip addr add ADDRESS/PREFIX dev INTERFACE),"
          + " or where all hosts are on one link, set spark.shuffle.rdma.listen.address="
          + (addresses.get(0) instanceof Inet6Address ? "fe80::/10" : "169.254.0.0/16");
    }
    if (!addresses.isEmpty() || device.transport() == Transport.LOOPBACK) {
      return "has no usable address: addresses=" + text(addresses);
    }
    return port.gids().stream().anyMatch(gid -> gid.type() == GidType.INFINIBAND)
        ? "has no IP address in this network namespace, and "
            + (device.can(Capability.GID_ADDRESSES)
                ? "the settings select none of its GIDs"
                : "engine " + device.engine() + " does not connect by GID here")
            + ": give the port's IPoIB interface one ("
            + DeviceChoice.IPOIB_COMMANDS
            + ") or give a container the network of its host"
        : "has no IP address in this network namespace: give its network interface one (ip link"
            + " set INTERFACE up && ip addr add ADDRESS/PREFIX dev INTERFACE) or give a container"
            + " the network of its host";
  }

  private static boolean matches(Gid gid, DeviceSelector selector) {
    return (selector.gid().isEmpty() || selector.gid().getAsInt() == gid.index())
        && (selector.gidType().isEmpty() || selector.gidType().get() == gid.type());
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
