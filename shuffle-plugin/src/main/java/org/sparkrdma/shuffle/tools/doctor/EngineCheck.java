// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.sparkrdma.shuffle.tools.engines.Probe;

/** Result of opening a device and registering memory as an executor does. */
final class EngineCheck {
  /** A reason that names its own remedy. */
  private static final Pattern HAS_REMEDY =
      Pattern.compile(
          "install|load the module|start the container|start fewer executors|ulimit|set spark\\.");

  /** Advice that is no step of its own. */
  static final String SEE_ABOVE = "solve the problems above, then run this again";

  private static final String PORT_UP =
      "bring a port up: ip link set INTERFACE up (Ethernet), or start a subnet manager"
          + " (InfiniBand)";

  /**
   * @param problemsBefore whether another check has found a problem
   */
  static List<Finding> run(Facts facts, boolean problemsBefore) {
    Probe probe = facts.probe();
    List<Finding> findings = new ArrayList<>();
    for (String reason : probe.reasons()) {
      findings.add(
          probe.usable()
              ? Finding.note("Not used: " + reason + ".", "nothing, unless you want that engine")
              : Finding.problem(reason + ".", problemsBefore ? SEE_ABOVE : advice(reason)));
    }
    if (probe.usable()) {
      findings.add(Finding.ok("Opened " + probe.inWords() + "."));
    }
    return findings;
  }

  /** A step towards RDMA where no other check has found a problem. */
  static String advice(String reason) {
    if (reason.contains("ports are down")) {
      return PORT_UP;
    }
    if (reason.contains("has no IP address")
        || reason.contains("has only link-local")
        || reason.contains("lack AF_IB")) {
      return "give the port an IP address as the sentence says, then run this again";
    }
    if (reason.contains("is not active")) {
      return PORT_UP;
    }
    if (reason.contains("no usable device") || reason.contains("cannot use address")) {
      return "choose a device, a port and an address of those under ports with"
          + " spark.shuffle.rdma.device, .device.port and .listen.address, or remove these"
          + " settings";
    }
    if (reason.contains("has no usable address")) {
      return "give the port an IP address that other hosts can reach, then run this again";
    }
    if (reason.contains("no permission")) {
      return "give this user access to these files (a udev rule, or chmod a+rw)";
    }
    if (reason.contains("no RDMA device")) {
      return "run this on a host with an RDMA card whose driver is loaded; without a card, soft"
          + " RoCE serves for tests: modprobe rdma_rxe && rdma link add rxe0 type rxe netdev"
          + " INTERFACE";
    }
    if (HAS_REMEDY.matcher(reason).find()) {
      return "do as the sentence says, then run this again";
    }
    return "run ibv_devinfo here: it must list a device with the state PORT_ACTIVE; if it does,"
        + " send the file of doctor --collect to a maintainer";
  }

  private EngineCheck() {}
}
