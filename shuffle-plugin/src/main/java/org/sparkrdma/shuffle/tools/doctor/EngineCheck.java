// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.shuffle.device.DeviceFitness;
import org.sparkrdma.shuffle.tools.engines.Probe;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;

/** Result of opening a device and registering memory as an executor does. */
final class EngineCheck {
  /** Advice for a reason that has this part; the others name their own remedy. */
  private record Advice(String part, String text) {}

  private static final String PORT_UP =
      "bring a port up: ip link set INTERFACE up (Ethernet), or start a subnet manager"
          + " (InfiniBand)";

  private static final List<Advice> ADVICES =
      List.of(
          new Advice("ports are down", PORT_UP),
          new Advice("is not active", PORT_UP),
          new Advice("IP address", "give the port an IP address as the sentence says"),
          new Advice("link-local", "give the port an IP address as the sentence says"),
          new Advice(
              "no usable device",
              "choose a device, a port and an address that the command devices lists with"
                  + " spark.shuffle.rdma.device and .listen.address, or remove these settings"),
          new Advice(
              "no permission", "give this user access to these files (a udev rule, or chmod a+rw)"),
          new Advice(
              "no RDMA device",
              "run this on a host with an RDMA card whose driver is loaded; without a card, soft"
                  + " RoCE serves for tests: modprobe rdma_rxe && rdma link add rxe0 type rxe netdev"
                  + " INTERFACE; if rdma system says exclusive, move the device into the network"
                  + " namespace of the container: rdma dev set DEVICE netns NAME"));

  static List<Finding> run(Facts facts) {
    Probe probe = facts.probe();
    List<Finding> findings = new ArrayList<>();
    for (String reason : probe.reasons()) {
      findings.add(
          probe.usable()
              ? Finding.note("Not used: " + reason + ".", "nothing, unless you want that engine")
              : Finding.problem(reason + ".", advice(reason)));
    }
    if (probe.usable()) {
      findings.add(Finding.ok("Opened " + probe.inWords() + "."));
      findings.addAll(singleThreaded(facts));
    }
    return findings;
  }

  /**
   * With these variables a card's library has no locks, so tasks leave each request to the agent;
   * with DiSNI they always do.
   */
  private static List<Finding> singleThreaded(Facts facts) {
    DeviceInfo device = facts.probe().choice().orElseThrow().device();
    if (new DeviceFitness(device).tasksPost() || !device.engine().equals("ibverbs")) {
      return List.of();
    }
    return facts.environment().keySet().stream()
        .filter(Capability.SINGLE_THREADED::contains)
        .sorted()
        .map(
            name ->
                Finding.warning(
                    name + " is set, so each request wakes another thread first.",
                    "unset " + name + " for executors"))
        .toList();
  }

  private static String advice(String reason) {
    for (Advice advice : ADVICES) {
      if (reason.contains(advice.part())) {
        return advice.text();
      }
    }
    return "do as the sentence says, then run this again; if it names nothing to do, run"
        + " ibv_devinfo, which must list a port with PORT_ACTIVE, and send the file of doctor"
        + " --collect to a maintainer";
  }

  private EngineCheck() {}
}
