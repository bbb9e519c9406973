// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.device;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.sparkrdma.shuffle.address.HostAddresses;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.settings.DeviceSelector;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.Transport;

/**
 * The device that an executor uses, and the address on it where peers connect.
 *
 * <p>Of all addresses on active ports that the selector allows, Spark's own comes first, since
 * peers are known to reach it, then those of its family. Devices in the subnet of the best address
 * with its transport are spread over the executors of a host, those with an address of another
 * family than Spark's only when the user listed them or there is no other. Without a router an
 * executor on one subnet cannot reach an executor on another. Of several equally good subnets the
 * lowest is used, so that hosts with the same subnets choose the same one. Devices that give a peer
 * access before it is proven are used only where the fabric is trusted, or there is no other.
 *
 * @param device attributes from its engine
 * @param port counted from 1
 * @param addresses of the port that peers may use, the preferred one first
 * @param reason for the choice, for the log
 */
public record DeviceChoice(
    DeviceInfo device, int port, List<NetworkAddress> addresses, String reason) {
  /** Give an InfiniBand port an interface with an IP address. */
  public static final String IPOIB_COMMANDS =
      "modprobe ib_ipoib && ip link set ib0 up && ip addr add ADDRESS/PREFIX dev ib0";

  /** Preference of an address, best first. */
  private enum Reach {
    SPARK_ITSELF("its port has Spark's own address"),
    SAME_FAMILY("its port is active and has an address of Spark's address family"),
    OTHER_FAMILY("its port is active, with an address of another family than Spark's only");

    private final String reason;

    Reach(String reason) {
      this.reason = reason;
    }

    /**
     * Whether peers reach it as well. Spark's own address only says which subnet they are on: the
     * other devices there are reached too.
     */
    boolean isAsGoodAs(Reach best) {
      return (this == OTHER_FAMILY) == (best == OTHER_FAMILY);
    }
  }

  private record Candidate(DeviceInfo device, PortInfo port, NetworkAddress network, Reach reach) {
    boolean isOnPortOf(Candidate other) {
      return device.name().equals(other.device.name()) && port.number() == other.port.number();
    }
  }

  public DeviceChoice {
    addresses = List.copyOf(addresses);
  }

  /**
   * Chooses.
   *
   * @param host facts about the addresses of this host
   * @throws InactivePortException when no selected port is active now, but one may become so
   * @throws VerbsException when no device is usable, with a reason for each
   */
  public static DeviceChoice of(
      List<DeviceInfo> devices, DeviceSelector selector, HostAddresses host) throws VerbsException {
    Predicate<InetAddress> allowed = allowed(selector);
    List<String> refused = new ArrayList<>();
    List<Candidate> candidates = new ArrayList<>();
    boolean active = false;
    boolean inactive = false;
    for (DeviceInfo device : devices) {
      if (!selector.devices().isEmpty() && !selector.devices().contains(device.name())) {
        refused.add(device.name() + " is not in spark.shuffle.rdma.device");
        continue;
      }
      for (PortInfo port : device.ports()) {
        String objection = objection(port, selector);
        if (isSelected(port, selector)) {
          active |= port.state() == PortState.ACTIVE;
          inactive |= port.state() != PortState.ACTIVE;
        }
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
      throw inactive && !active
          ? new InactivePortException(reason)
          : new VerbsException("open", reason);
    }
    return best(candidates, selector);
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
    for (InetAddress address : lasting(usable, selector.sparkHost(), host)) {
      Reach reach = reach(address, selector.sparkHost());
      candidates.add(new Candidate(device, port, host.network(address), reach));
    }
    return usable.isEmpty() ? objectionToAddresses(device, port) : null;
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
    if (!port.addresses().isEmpty() || device.transport() == Transport.LOOPBACK) {
      return "has no usable address: addresses=" + text(port.addresses());
    }
    // The connection manager could also connect GIDs (AF_IB); this version does not.
    return port.gids().stream().anyMatch(gid -> gid.type() == GidType.INFINIBAND)
        ? "has no IP address in this network namespace (link-local ones do not count): this version"
            + " connects by IP addresses only; give the port's IPoIB interface one ("
            + IPOIB_COMMANDS
            + ")"
        : "has no IP address in this network namespace (link-local ones do not count): give its"
            + " network interface one (ip link set INTERFACE up && ip addr add ADDRESS/PREFIX dev"
            + " INTERFACE) or give a container the network of its host";
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

  /** All candidates, if none keeps a peer out until it is proven: the start then names the rule. */
  private static List<Candidate> safe(List<Candidate> candidates) {
    List<Candidate> safe =
        candidates.stream()
            .filter(candidate -> candidate.device().can(Capability.QUEUE_PAIR_ACCESS))
            .toList();
    return safe.isEmpty() ? candidates : safe;
  }

  private static DeviceChoice best(List<Candidate> all, DeviceSelector selector) {
    List<Candidate> candidates = selector.fabricTrusted() ? all : safe(all);
    // A list of devices selects all of them.
    boolean listed = selector.devices().size() > 1;
    Candidate best = candidates.stream().min(DeviceChoice::compare).orElseThrow();
    List<Candidate> good =
        candidates.stream()
            .filter(candidate -> listed || candidate.reach().isAsGoodAs(best.reach()))
            .filter(candidate -> candidate.device().transport() == best.device().transport())
            .toList();
    List<Candidate> usable =
        good.stream()
            .filter(
                candidate -> selector.routed() || candidate.network().isOnSubnetOf(best.network()))
            .toList();
    List<String> devices = devicesOf(usable);
    String device = devices.get(Math.floorMod(selector.spread(), devices.size()));
    Candidate chosen =
        usable.stream()
            .filter(candidate -> candidate.device().name().equals(device))
            .min(Comparator.comparing(Candidate::reach))
            .orElseThrow();
    return new DeviceChoice(
        chosen.device(),
        chosen.port().number(),
        addresses(chosen, candidates),
        chosen.reach().reason
            + explain(devices, devicesOf(good))
            + explainUnsafe(devicesOf(all), devicesOf(candidates)));
  }

  /** Orders by reach, then by subnet. */
  private static int compare(Candidate one, Candidate other) {
    int byReach = one.reach().compareTo(other.reach());
    return byReach != 0
        ? byReach
        : Arrays.compareUnsigned(one.network().subnet(), other.network().subnet());
  }

  private static List<String> devicesOf(List<Candidate> candidates) {
    return candidates.stream().map(candidate -> candidate.device().name()).distinct().toList();
  }

  /** The chosen address, then all others of its port that peers may use, best first. */
  private static List<NetworkAddress> addresses(Candidate chosen, List<Candidate> candidates) {
    List<NetworkAddress> addresses = new ArrayList<>(List.of(chosen.network()));
    candidates.stream()
        .filter(chosen::isOnPortOf)
        .sorted(Comparator.comparing(Candidate::reach))
        .map(Candidate::network)
        .filter(network -> !network.equals(chosen.network()))
        .forEach(addresses::add);
    return addresses;
  }

  /** Text for the log about devices that other executors use, or none. */
  private static String explain(List<String> used, List<String> good) {
    String unused =
        good.stream().filter(name -> !used.contains(name)).collect(Collectors.joining(" "));
    return (used.size() > 1 ? ", one of " + String.join(" ", used) : "")
        + (unused.isEmpty()
            ? ""
            : "; not used, because they are in another subnet: "
                + unused
                + " (spark.shuffle.rdma.rails.routed=true uses them)");
  }

  /** Text for the log about devices that give a peer access before it is proven, or none. */
  private static String explainUnsafe(List<String> all, List<String> safe) {
    return all.size() == safe.size()
        ? ""
        : "; not used without spark.shuffle.rdma.fabric.trusted=true: "
            + all.stream().filter(name -> !safe.contains(name)).collect(Collectors.joining(" "));
  }

  private static String text(List<InetAddress> addresses) {
    return String.join(" ", addresses.stream().map(InetAddress::getHostAddress).toList());
  }

  /** Number by which the executor with this id chooses among equal devices. */
  public static int numberOf(String executorId) {
    try {
      return Integer.parseInt(executorId);
    } catch (NumberFormatException e) {
      return executorId.hashCode();
    }
  }
}
