// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.device;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import org.sparkrdma.shuffle.address.HostAddresses;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.settings.DeviceSelector;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;

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

  public DeviceChoice {
    addresses = List.copyOf(addresses);
  }

  /**
   * Chooses.
   *
   * @param host facts about the addresses of this host
   * @throws PortNotReadyException when no selected port is active and has a usable address now
   * @throws VerbsException when no device is usable, with a reason for each
   */
  public static DeviceChoice of(
      List<DeviceInfo> devices, DeviceSelector selector, HostAddresses host) throws VerbsException {
    return best(PortCandidates.of(devices, selector, host), selector);
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
        good.stream().filter(candidate -> areJoined(candidate, best, selector.routed())).toList();
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
        chosen.reach().reason()
            + explain(devices, devicesOf(good))
            + explainUnsafe(devicesOf(all), devicesOf(candidates)));
  }

  /**
   * Whether peers of one candidate reach the other. All links have the same link-local subnet, so
   * such addresses say nothing about other ports.
   */
  private static boolean areJoined(Candidate one, Candidate other, boolean routed) {
    boolean linkLocal = one.network().isLinkLocal() || other.network().isLinkLocal();
    return linkLocal
        ? one.isOnPortOf(other)
        : (routed && !one.network().isGid()) || one.network().isOnSubnetOf(other.network());
  }

  /** Orders by reach, then by subnet; link-local addresses come last. */
  private static int compare(Candidate one, Candidate other) {
    int byLink = Boolean.compare(one.network().isLinkLocal(), other.network().isLinkLocal());
    if (byLink != 0) {
      return byLink;
    }
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
                + " (where a router joins the subnets,"
                + " spark.shuffle.rdma.rails.routed=true uses them)");
  }

  /** Text for the log about devices that give a peer access before it is proven, or none. */
  private static String explainUnsafe(List<String> all, List<String> safe) {
    return all.size() == safe.size()
        ? ""
        : "; not used without spark.shuffle.rdma.fabric.trusted=true: "
            + all.stream().filter(name -> !safe.contains(name)).collect(Collectors.joining(" "));
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
