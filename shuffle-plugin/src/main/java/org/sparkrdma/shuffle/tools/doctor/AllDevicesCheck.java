// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.sparkrdma.shuffle.tools.engines.PortProbe;
import org.sparkrdma.verbs.device.Transport;

/** One finding for each active port of each device, with {@code --all} only. */
final class AllDevicesCheck implements Check {
  @Override
  public String name() {
    return "all devices";
  }

  @Override
  public List<Finding> run(Facts facts) {
    if (facts.all().isEmpty()) {
      return List.of();
    }
    List<PortProbe> ports = facts.all().get();
    if (ports.isEmpty()) {
      return List.of(
          Finding.note(
              "No device was opened: no engine runs or has a device.",
              "solve the problems under engine, then run this again"));
    }
    int directories = facts.localDirectories().size();
    return ports.stream().map(port -> finding(port, directories)).toList();
  }

  private static Finding finding(PortProbe port, int directories) {
    String excluded =
        port.exclusion().map(text -> " The settings exclude it: " + text + ".").orElse("");
    if (!port.usable()) {
      String reason = port.failure().orElseThrow();
      return Finding.warning(
          port.name() + " is not usable: " + reason + "." + excluded, EngineCheck.advice(reason));
    }
    List<String> refusals = new ArrayList<>();
    new TreeMap<>(port.directories())
        .forEach(
            (directory, refusal) ->
                refusal.ifPresent(reason -> refusals.add(directory + ": " + reason)));
    String words =
        port.name() + " is usable at " + port.addresses() + ": " + opened(port, directories);
    if (!refusals.isEmpty()) {
      return Finding.warning(
          words
              + " Blocks are copied where files are not registered: "
              + String.join("; ", refusals)
              + "."
              + excluded,
          LocalDirectoriesCheck.ADVICE);
    }
    return excluded.isEmpty()
        ? Finding.ok(words)
        : Finding.note(
            words + excluded, "remove or change that setting if executors shall use the port");
  }

  /** A loopback device pins no memory of its own, and files are not registered for every device. */
  private static String opened(PortProbe port, int directories) {
    List<String> steps = new ArrayList<>(List.of("opened the device"));
    if (port.device().transport() != Transport.LOOPBACK) {
      steps.add("registered memory");
    }
    long registered = port.directories().values().stream().filter(Optional::isEmpty).count();
    if (registered > 0) {
      steps.add(
          "registered a file in "
              + (registered == directories
                  ? "each local directory"
                  : registered + " of " + directories + " local directories"));
    }
    return String.join(", ", steps) + ".";
  }
}
