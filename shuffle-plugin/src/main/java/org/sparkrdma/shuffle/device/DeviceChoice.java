// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.device;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import org.sparkrdma.shuffle.settings.DeviceSelector;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;

/**
 * The device that an executor uses, and the address on it where peers connect.
 *
 * <p>Of all addresses on active ports that the selector allows, Spark's own comes first, since
 * peers are known to reach it, then those of its family. Devices that are equally good, or that the
 * user listed, are spread over the executors of a host.
 *
 * @param device as its engine told of it
 * @param port counted from 1
 * @param address on the port
 * @param why a few words for the log
 */
public record DeviceChoice(DeviceInfo device, int port, InetAddress address, String why) {
  /** How good an address is, best first. */
  private enum Reach {
    SPARK_ITSELF("Spark itself listens there"),
    SAME_FAMILY("an active port with an address of the family that Spark uses"),
    OTHER_FAMILY("an active port with an address, though not of the family that Spark uses");

    private final String why;

    Reach(String why) {
      this.why = why;
    }
  }

  private record Candidate(DeviceInfo device, PortInfo port, InetAddress address, Reach reach) {}

  /**
   * Chooses.
   *
   * @throws VerbsException when nothing will do; says of each device why
   */
  public static DeviceChoice of(List<DeviceInfo> devices, DeviceSelector selector)
      throws VerbsException {
    Predicate<InetAddress> allowed = allowed(selector);
    List<String> refused = new ArrayList<>();
    List<Candidate> candidates = new ArrayList<>();
    for (DeviceInfo device : devices) {
      if (!selector.devices().isEmpty() && !selector.devices().contains(device.name())) {
        refused.add(device.name() + " was not asked for");
        continue;
      }
      for (PortInfo port : device.ports()) {
        String objection = objection(port, selector);
        if (objection == null) {
          objection = addCandidates(candidates, device, port, selector, allowed);
        }
        if (objection != null) {
          refused.add(device.name() + " port " + port.number() + " " + objection);
        }
      }
    }
    for (String name : selector.devices()) {
      if (devices.stream().noneMatch(device -> device.name().equals(name))) {
        refused.add(name + " is not there");
      }
    }
    if (candidates.isEmpty()) {
      throw new VerbsException("open", "no usable device: " + String.join(", ", refused));
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

  /** Addresses that mean something to other hosts, or to this one where Spark needs no more. */
  private static boolean isReachable(InetAddress address, InetAddress sparkHost) {
    return !address.isLinkLocalAddress()
        && (!address.isLoopbackAddress() || sparkHost.isLoopbackAddress());
  }

  private static String objection(PortInfo port, DeviceSelector selector) {
    if (selector.port().isPresent() && selector.port().getAsInt() != port.number()) {
      return "was not asked for";
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
      Predicate<InetAddress> allowed) {
    List<Gid> gids = port.gids().stream().filter(gid -> isAskedFor(gid, selector)).toList();
    if (gids.isEmpty() && (selector.gid().isPresent() || selector.gidType().isPresent())) {
      return "has no such GID: gid="
          + (selector.gid().isPresent() ? selector.gid().getAsInt() : "any")
          + " type="
          + selector.gidType().map(GidType::name).orElse("any");
    }
    boolean restricted = selector.gid().isPresent() || selector.gidType().isPresent();
    boolean any = false;
    for (InetAddress address : port.addresses()) {
      if (allowed.test(address)
          && (!restricted || gids.stream().anyMatch(g -> leadsTo(g, address)))) {
        candidates.add(new Candidate(device, port, address, reach(address, selector.sparkHost())));
        any = true;
      }
    }
    return any ? null : "has no address that will do: addresses=" + inWords(port.addresses());
  }

  private static boolean isAskedFor(Gid gid, DeviceSelector selector) {
    return (selector.gid().isEmpty() || selector.gid().getAsInt() == gid.index())
        && (selector.gidType().isEmpty() || selector.gidType().get() == gid.type());
  }

  /** With RoCE a GID is an address; elsewhere the port's addresses belong to all its GIDs. */
  private static boolean leadsTo(Gid gid, InetAddress address) {
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

  private static DeviceChoice best(List<Candidate> candidates, DeviceSelector selector) {
    // A list of devices asks for all of them.
    boolean spreadAll = selector.devices().size() > 1;
    Reach reach =
        candidates.stream().map(Candidate::reach).min(Comparator.naturalOrder()).orElseThrow();
    List<String> devices =
        candidates.stream()
            .filter(candidate -> spreadAll || candidate.reach() == reach)
            .map(candidate -> candidate.device().name())
            .distinct()
            .toList();
    String device = devices.get(Math.floorMod(selector.spread(), devices.size()));
    Candidate chosen =
        candidates.stream()
            .filter(candidate -> candidate.device().name().equals(device))
            .min(Comparator.comparing(Candidate::reach))
            .orElseThrow();
    String spread = devices.size() > 1 ? ", one of " + String.join(" ", devices) : "";
    return new DeviceChoice(
        chosen.device(), chosen.port().number(), chosen.address(), chosen.reach().why + spread);
  }

  private static String inWords(List<InetAddress> addresses) {
    return String.join(" ", addresses.stream().map(InetAddress::getHostAddress).toList());
  }
}
