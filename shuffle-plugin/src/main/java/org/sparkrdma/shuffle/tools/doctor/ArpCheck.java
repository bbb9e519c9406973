// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.tools.counters.PortFiles;

/**
 * With several interfaces in one layer-2 network Linux answers ARP for the address of one by any
 * other (arp_ignore in Linux's ip-sysctl.rst). Packets of RoCE then arrive at a device that does
 * not have their GID and are dropped, and a connection takes many seconds or fails.
 */
final class ArpCheck implements Check {
  private static final String SETTINGS = "proc/sys/net/ipv4/conf/";

  @Override
  public String name() {
    return "arp";
  }

  @Override
  public List<Finding> run(Facts facts) {
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
    String text = files.text(SETTINGS + network + "/arp_ignore").orElse("");
    return SystemFiles.number(text).orElse(0);
  }
}
