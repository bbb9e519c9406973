// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.sparkrdma.shuffle.pinned.SystemFiles;

/** Counters of loss and congestion of each port, read twice. */
final class CountersCheck implements Check {
  private static final String PAUSES =
      "pause frames (PFC) are not in /sys; see: ethtool -S INTERFACE | grep -i pause";

  @Override
  public String name() {
    return "loss and congestion";
  }

  @Override
  public List<Finding> run(Facts facts) {
    List<String> ports = facts.ports();
    if (ports.isEmpty()) {
      return List.of();
    }
    Map<String, Long> before = read(facts, ports);
    facts.pause().run();
    Map<String, Long> after = read(facts, ports);
    if (after.isEmpty()) {
      return List.of(
          Finding.note("The devices show no counters of loss or congestion in /sys.", PAUSES));
    }
    List<Finding> findings = new ArrayList<>();
    after.forEach(
        (file, value) -> {
          long growth = value - before.getOrDefault(file, value);
          if (growth > 0 || value > 0) {
            findings.add(finding(file, value, growth));
          }
        });
    if (findings.isEmpty()) {
      findings.add(Finding.ok("All " + after.size() + " counters of loss and congestion are 0."));
    }
    return findings;
  }

  private static Finding finding(String file, long value, long growth) {
    String[] parts = file.split("/", -1);
    PortCounter counter = PortCounter.of(parts[parts.length - 1]).orElseThrow();
    String words =
        "%s port %s, %s=%d: %s."
            .formatted(parts[3], parts[5], counter.file(), value, counter.meaning());
    return growth > 0
        ? Finding.warning(
            words + " It grew by " + growth + " while this command looked.", counter.advice())
        : Finding.note(words + " It did not grow while this command looked.", counter.advice());
  }

  /** The known counters of the ports by file, sorted. */
  private static Map<String, Long> read(Facts facts, List<String> ports) {
    Map<String, Long> values = new TreeMap<>();
    for (String port : ports) {
      for (PortCounter counter : PortCounter.values()) {
        for (String directory : List.of("hw_counters", "counters")) {
          String file = port + "/" + directory + "/" + counter.file();
          OptionalLong value = SystemFiles.number(facts.files().text(file).orElse(""));
          value.ifPresent(number -> values.put(file, number));
        }
      }
    }
    return values;
  }
}
