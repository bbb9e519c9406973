// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.Set;
import org.sparkrdma.shuffle.device.DeviceChoice;
import org.sparkrdma.shuffle.pinned.SystemFiles;

/** Ports of all devices: link layer, state, speed, MTU, and GIDs with type and address. */
final class PortsCheck {
  private static final String ACTIVE = "ACTIVE";

  private static final String INTERFACES = "sys/class/net";

  /** MTU of packets of 4096 bytes, the largest of RDMA, with their headers. */
  private static final long FULL_MTU = 4_200;

  /** Number of GIDs shown. */
  private static final int MAX_GIDS = 8;

  /** Digits of the hardware address of an IPoIB interface, which has 20 bytes. */
  private static final int IPOIB_DIGITS = 40;

  static List<Finding> run(Facts facts) {
    List<Finding> findings = new ArrayList<>();
    for (String port : facts.ports()) {
      findings.addAll(new Port(new PortFiles(facts.files(), port)).findings());
    }
    return findings;
  }

  /** One port, read from its directory. */
  private record Port(PortFiles port) {
    List<Finding> findings() {
      String state = afterColon(text("state"));
      String link = text("link_layer");
      Set<String> interfaces = port.networkInterfaces();
      String words =
          String.format(
              Locale.ROOT,
              "%s: link layer %s, state %s, speed %s%s.",
              name(),
              link,
              state,
              text("rate"),
              mtu(interfaces));
      List<Finding> findings = new ArrayList<>();
      if (!state.equals(ACTIVE)) {
        findings.add(
            Finding.warning(
                words + " The port carries no data.",
                "check cable and switch, and run: ip link set INTERFACE up (Ethernet), or start a"
                    + " subnet manager (InfiniBand)"));
        return findings;
      }
      findings.add(
          port.isEthernet() && minMtu(interfaces) < FULL_MTU
              ? Finding.note(
                  words + " With this MTU the device sends packets smaller than 4096 bytes.",
                  "for more speed set an MTU of at least "
                      + FULL_MTU
                      + " on all hosts and switches: ip link set INTERFACE mtu 9000")
              : Finding.ok(words));
      findings.add(addresses());
      if (port.isInfiniband()) {
        findings.add(ipoib());
      }
      return findings;
    }

    /** On InfiniBand only an IPoIB interface of the port can have an IP address. */
    private Finding ipoib() {
      List<String> own = new ArrayList<>(port.files().names(INTERFACES));
      own.removeIf(network -> !isIpoib(network));
      if (own.isEmpty()) {
        return Finding.note(
            name()
                + " has no IPoIB interface, so it has no IP address. Executors on engine ibverbs"
                + " connect by its GID (AF_IB), to ports without an IP address and with the same"
                + " subnet prefix.",
            "nothing, if no host has an IP address on InfiniBand; otherwise run: "
                + DeviceChoice.IPOIB_COMMANDS);
      }
      List<String> down = new ArrayList<>(own);
      down.removeIf(network -> !operState(network).equals("down"));
      String words = name() + " has the IPoIB interface " + String.join(", ", own) + mtu(own);
      return down.size() < own.size()
          ? Finding.ok(words + ".")
          : Finding.warning(
              words + ", which is down, so the port has no IP address in use.",
              "run: ip link set "
                  + down.get(0)
                  + " up && ip addr add ADDRESS/PREFIX dev "
                  + down.get(0));
    }

    /** Its hardware address ends with the port's first GID. */
    private boolean isIpoib(String network) {
      String gid = text("gids/0");
      String address = port.files().text(INTERFACES + "/" + network + "/address").orElse("");
      String hex = address.replace(":", "");
      return hex.length() == IPOIB_DIGITS && hex.endsWith(gid.replace(":", ""));
    }

    private String operState(String network) {
      return port.files().text(INTERFACES + "/" + network + "/operstate").orElse("");
    }

    private Finding addresses() {
      List<String> gids = gids();
      String words = name() + " has " + gids.size() + " GIDs";
      if (gids.isEmpty()) {
        return Finding.warning(words + ".", "give its network interface an IP address");
      }
      List<String> shown = gids.subList(0, Math.min(MAX_GIDS, gids.size()));
      return Finding.ok(
          words
              + ": "
              + String.join(", ", shown)
              + (gids.size() > MAX_GIDS ? ", ... (the command devices lists all)" : "")
              + ".");
    }

    /** Each entry of the table that is not empty: index, type, address and interface. */
    private List<String> gids() {
      List<String> gids = new ArrayList<>();
      List<String> indexes = new ArrayList<>(port.files().names(port.directory() + "/gids"));
      indexes.removeIf(index -> !index.matches("\\d{1,5}"));
      indexes.sort((one, other) -> Integer.parseInt(one) - Integer.parseInt(other));
      for (String index : indexes) {
        String gid = text("gids/" + index);
        String address = address(gid);
        if (!address.isEmpty()) {
          gids.add(index + " " + port.gidType(index) + " " + address);
        }
      }
      return gids;
    }

    /** The address of a GID; none for an empty entry or what is no address. */
    private static String address(String gid) {
      try {
        byte[] bytes = HexFormat.of().parseHex(gid.replace(":", ""));
        InetAddress address = InetAddress.getByAddress(bytes);
        return address.isAnyLocalAddress() ? "" : address.getHostAddress();
      } catch (IllegalArgumentException | UnknownHostException e) {
        return "";
      }
    }

    private String mtu(Collection<String> interfaces) {
      StringBuilder words = new StringBuilder();
      for (String network : interfaces) {
        mtuOf(network)
            .ifPresent(mtu -> words.append(", MTU ").append(mtu).append(" of ").append(network));
      }
      return words.toString();
    }

    private long minMtu(Set<String> interfaces) {
      return interfaces.stream()
          .map(this::mtuOf)
          .filter(OptionalLong::isPresent)
          .mapToLong(OptionalLong::getAsLong)
          .min()
          .orElse(FULL_MTU);
    }

    private OptionalLong mtuOf(String network) {
      return SystemFiles.number(port.files().text(INTERFACES + "/" + network + "/mtu").orElse(""));
    }

    private String text(String file) {
      return port.files().text(port.directory() + "/" + file).orElse("unknown");
    }

    /** The kernel writes a number before the name, as in {@code 4: ACTIVE}. */
    private static String afterColon(String text) {
      return text.substring(text.indexOf(':') + 1).trim();
    }

    private String name() {
      return port.name();
    }
  }

  private PortsCheck() {}
}
