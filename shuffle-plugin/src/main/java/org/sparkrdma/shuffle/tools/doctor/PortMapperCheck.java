// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.sparkrdma.shuffle.pinned.SystemFiles;

/**
 * The port mapper of iWARP, iwpmd(8): where it runs, it chooses the TCP ports of connections, so a
 * firewall must let more pass than the port of the listener. Not for siw, which asks for no mapping
 * (IW_F_NO_PORT_MAP in its siw_main.c).
 */
final class PortMapperCheck implements Check {
  /** Begin of the kernel's file node_type for a device of iWARP. */
  private static final String RNIC = "4:";

  /** Begin of siw's file node_desc. */
  private static final String SIW = "Software iWARP";

  /** Port 3935 (IWARP_PM_PORT of iwpmd) in the files of the kernel, behind the address. */
  private static final String PORT = ":0F5F ";

  @Override
  public String name() {
    return "iwarp";
  }

  @Override
  public List<Finding> run(Facts facts) {
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
        .map(PortMapperCheck::localAddress)
        .anyMatch(address -> address.endsWith(PORT));
  }

  /** The second column, with one space behind it. */
  private static String localAddress(String line) {
    String[] columns = line.trim().split(" +", -1);
    return columns.length > 2 ? columns[1] + " " : "";
  }
}
