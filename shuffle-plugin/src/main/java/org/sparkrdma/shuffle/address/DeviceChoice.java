// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.sparkrdma.shuffle.address.Candidate.Reach;
import org.sparkrdma.shuffle.device.DeviceFitness;
import org.sparkrdma.shuffle.settings.DeviceSelector;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.TransportType;

/**
 * The device that an executor uses, and the address on it where peers connect.
 *
 * <p>Of all addresses on active ports that the selector allows, Spark's own comes first, since
 * peers are known to reach it, then those of its family, then the lowest subnet, so that hosts with
 * the same subnets choose the same one. Devices in the subnet of the best address with its
 * transport are spread over the executors of a host by their numbers. Without a router an executor
 * on one subnet cannot reach an executor on another. Devices that give a peer access before it is
 * proven are used only where the fabric is trusted, or there is no other.
 *
 * @param device attributes from its engine
 * @param port counted from 1
 * @param addresses of the port that peers may use, the preferred one first
 * @param reason for the choice, for the log
 */
public record DeviceChoice(
    DeviceInfo device, int port, List<NetworkAddress> addresses, String reason) {
  /** Multiplicative hashing: near numbers, and those with a common step, get different shares. */
  private static final long GOLDEN_RATIO = 0x9E3779B97F4A7C15L;

  public DeviceChoice {
    addresses = List.copyOf(addresses);
  }

  /**
   * The chosen device, then those to use when it fails.
   *
   * @param networks gives an address of this host with the prefix length of its subnet
   * @return at least one
   * @throws PortNotReadyException when no selected port is active and has a usable address now
   * @throws VerbsException when no device is usable, with a reason for each
   */
  public static List<DeviceChoice> all(
      List<DeviceInfo> devices,
      DeviceSelector selector,
      Function<InetAddress, NetworkAddress> networks)
      throws VerbsException {
    List<Candidate> found = PortCandidates.of(devices, selector, networks);
    List<Candidate> candidates = selector.fabricTrusted() ? found : safe(found);
    Candidate best = Collections.min(candidates, DeviceChoice::compare);
    Map<String, Candidate> joined = new LinkedHashMap<>();
    for (Candidate candidate : candidates) {
      if (candidate.isJoinedWith(best, selector.routed())) {
        joined.merge(candidate.device().name(), candidate, DeviceChoice::better);
      }
    }
    List<String> names = List.copyOf(joined.keySet());
    List<DeviceChoice> choices = new ArrayList<>();
    int first = share(selector.spread(), names.size());
    for (int i = 0; i < names.size(); i++) {
      Candidate chosen = joined.get(names.get((first + i) % names.size()));
      choices.add(
          new DeviceChoice(
              chosen.device(),
              chosen.port().number(),
              addresses(chosen, candidates),
              chosen.reach().reason() + explain(names, candidates, best.device().transport())));
    }
    return choices;
  }

  /** All candidates, if none keeps a peer out until it is proven: the start then names the rule. */
  private static List<Candidate> safe(List<Candidate> candidates) {
    List<Candidate> safe =
        candidates.stream()
            .filter(candidate -> new DeviceFitness(candidate.device()).withholdsAccess())
            .toList();
    return safe.isEmpty() ? candidates : safe;
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

  private static Candidate better(Candidate one, Candidate other) {
    return compare(one, other) <= 0 ? one : other;
  }

  /** The chosen address, then all others of its port that peers may use, best first. */
  private static List<NetworkAddress> addresses(Candidate chosen, List<Candidate> candidates) {
    List<NetworkAddress> addresses = new ArrayList<>(List.of(chosen.network()));
    for (Reach reach : Reach.values()) {
      for (Candidate other : candidates) {
        if (other.reach() == reach
            && chosen.isOnPortOf(other)
            && !other.network().equals(chosen.network())) {
          addresses.add(other.network());
        }
      }
    }
    return addresses;
  }

  /** Text for the log about devices that other executors use, or none. */
  private static String explain(List<String> used, List<Candidate> all, TransportType transport) {
    List<String> unused = new ArrayList<>();
    for (Candidate candidate : all) {
      String name = candidate.device().name();
      if (candidate.device().transport() == transport
          && !used.contains(name)
          && !unused.contains(name)) {
        unused.add(name);
      }
    }
    return (used.size() > 1 ? ", one of " + String.join(" ", used) : "")
        + (unused.isEmpty()
            ? ""
            : "; not used, because they are in another subnet: "
                + String.join(" ", unused)
                + " (where a router joins the subnets,"
                + " spark.shuffle.rdma.rails.routed=true uses them)");
  }

  /** Number by which the executor with this id chooses among equal devices. */
  public static int numberOf(String executorId) {
    try {
      return Integer.parseInt(executorId);
    } catch (NumberFormatException e) {
      return executorId.hashCode();
    }
  }

  /**
   * The completion vector of an executor: executors of a host are spread over the vectors of its
   * device, so that not all their interrupts go to one processor. They differ in their process ids,
   * those of containers in their numbers, which may have a common step.
   *
   * @param executor number of the executor in its application
   * @param pid of its process
   * @param vectors that the device has, at least 1
   */
  public static int completionVector(int executor, long pid, int vectors) {
    return share(31 * pid + executor, vectors);
  }

  /**
   * One of so many, by a number: the executors of a host have numbers near each other, or every
   * second one where they are started in turn on two hosts.
   */
  private static int share(long number, int count) {
    long fraction = (number * GOLDEN_RATIO) >>> Integer.SIZE;
    return (int) ((fraction * count) >>> Integer.SIZE);
  }
}
