// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.sparkrdma.shuffle.pinned.SystemFiles;

/** Checks of the networks of RDMA ports: ARP and the port mapper of iWARP. Stateless. */
final class NetworkChecks {
  private static final String ARP_SETTINGS = "proc/sys/net/ipv4/conf/";

  /**
   * With several interfaces in one layer-2 network Linux answers ARP for the address of one by any
   * other (arp_ignore in Linux's ip-sysctl.rst). Packets of RoCE then arrive at a device that does
   * not have their GID and are dropped, and a connection takes many seconds or fails.
   */
  static List<Finding> arp(Facts facts) {
    Set<String> interfaces = new TreeSet<>();
    for (String port : facts.ports()) {
      interfaces.addAll(interfacesOfRoce(facts.files(), port));
    }
    if (interfaces.size() < 2) {
      return List.of();
    }
    List<String> answering = new ArrayList<>(interfaces);
    answering.removeIf(one -> ignores(facts.files(), one));
    if (answering.isEmpty()) {
      return List.of(
          Finding.ok(
              "The interfaces " + String.join(", ", interfaces) + " answer ARP each for itself."));
    }
    return List.of(
        Finding.note(
            String.format(
                Locale.ROOT,
                "The interfaces %s may answer ARP for each other's addresses (arp_ignore is 0). In one layer-2 network RoCE then loses the packets that arrive at the wrong one.",
                String.join(", ", answering)),
            "run, unless each is in a layer-2 network of its own: sysctl -w"
                + " net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2, and put both"
                + " into a file in /etc/sysctl.d"));
  }

  private static Set<String> interfacesOfRoce(SystemFiles files, String port) {
    Set<String> interfaces = new TreeSet<>();
    for (String index : files.names(port + "/gid_attrs/types")) {
      PortFiles portFiles = new PortFiles(files, port);
      if (portFiles.gidType(index).contains("RoCE")) {
        portFiles.networkInterface(index).ifPresent(interfaces::add);
      }
    }
    return interfaces;
  }

  /** The kernel uses the higher value of all interfaces and of this one. */
  private static boolean ignores(SystemFiles files, String network) {
    return value(files, "all") > 0 || value(files, network) > 0;
  }

  private static long value(SystemFiles files, String network) {
    String text = files.text(ARP_SETTINGS + network + "/arp_ignore").orElse("");
    return SystemFiles.number(text).orElse(0);
  }

  /** Begin of the kernel's file node_type for a device of iWARP. */
  private static final String RNIC = "4:";

  /** Begin of siw's file node_desc. */
  private static final String SIW = "Software iWARP";

  /** Port 3935 (IWARP_PM_PORT of iwpmd) in the files of the kernel, behind the address. */
  private static final String PORT = ":0F5F ";

  /**
   * The port mapper of iWARP, iwpmd(8): where it runs, it chooses the TCP ports of connections, so
   * a firewall must let more pass than the port of the listener. Not for siw, which asks for no
   * mapping (IW_F_NO_PORT_MAP in its siw_main.c).
   */
  static List<Finding> portMapper(Facts facts) {
    List<String> cards =
        facts.devices().stream().filter(device -> isCard(facts.files(), device)).toList();
    if (cards.isEmpty()) {
      return List.of();
    }
    String names = String.join(", ", cards);
    return List.of(
        isRunning(facts.files())
            ? Finding.note(
                String.format(
                    Locale.ROOT,
                    "iWARP card %s: the port mapper iwpmd runs (UDP port 3935 is in use), so it"
                        + " chooses the TCP ports of connections.",
                    names),
                "with a firewall allow UDP port 3935 and all TCP ports between the hosts, and run"
                    + " iwpmd on each of them; spark.shuffle.rdma.listen.port does not choose the"
                    + " port on the wire")
            : Finding.note(
                String.format(
                    Locale.ROOT,
                    "iWARP card %s: the port mapper iwpmd does not run here (UDP port 3935 is not"
                        + " in use), so nothing keeps other programs from the TCP port of the"
                        + " listener.",
                    names),
                "run iwpmd on all hosts (package rdma-core, service iwpmd) or on none; without it"
                    + " a firewall must allow the TCP port spark.shuffle.rdma.listen.port"));
  }

  private static boolean isCard(SystemFiles files, String device) {
    String directory = Facts.DEVICES + "/" + device;
    return files.text(directory + "/node_type").orElse("").startsWith(RNIC)
        && !files.text(directory + "/node_desc").orElse("").startsWith(SIW);
  }

  /** Whether it runs in this network namespace, which the files describe. */
  private static boolean isRunning(SystemFiles files) {
    return Stream.of("proc/net/udp", "proc/net/udp6")
        .flatMap(file -> files.lines(file).stream())
        .map(NetworkChecks::localAddress)
        .anyMatch(address -> address.endsWith(PORT));
  }

  /** The second column, with one space behind it. */
  private static String localAddress(String line) {
    String[] columns = line.trim().split(" +", -1);
    return columns.length > 2 ? columns[1] + " " : "";
  }

  private NetworkChecks() {}
}
