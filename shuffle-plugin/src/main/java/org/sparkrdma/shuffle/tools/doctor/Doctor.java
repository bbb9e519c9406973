// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs all checks in order and gives the answer. Stateless. */
public final class Doctor {
  private static final List<Check> CHECKS =
      List.of(
          new SystemCheck(),
          new JavaCheck(),
          new EnvironmentCheck(),
          new LibrariesCheck(),
          new ModulesCheck(),
          new DeviceNodesCheck(),
          new NamespaceCheck(),
          new SparkAddressCheck(),
          new PortsCheck(),
          new ArpCheck(),
          new PortMapperCheck(),
          new LockedMemoryCheck(),
          new ControlGroupsCheck(),
          new LocalDirectoriesCheck(),
          new SettingsCheck(),
          new EncryptionCheck(),
          new EngineCheck(),
          new AllDevicesCheck(),
          new PeerFindings(),
          new CountersCheck());

  private Doctor() {}

  /**
   * The answer with all findings.
   *
   * @param usable whether RDMA will be used
   * @param reasons why not, or why the chosen device
   * @param findings by the name of the check
   */
  public record Report(boolean usable, List<String> reasons, Map<String, List<Finding>> findings) {
    /** The answer in one line. */
    public String summary() {
      return (usable ? "RDMA will be used: " : "RDMA will not be used: ")
          + String.join("; ", reasons);
    }

    /** Number of findings of a level. */
    public long count(Level level) {
      return findings.values().stream()
          .flatMap(List::stream)
          .filter(finding -> finding.level() == level)
          .count();
    }
  }

  /** Runs all checks; takes as long as the pause of the facts. */
  public static Report run(Facts facts) {
    Map<String, List<Finding>> findings = new LinkedHashMap<>();
    for (Check check : CHECKS) {
      boolean problems =
          findings.values().stream()
              .flatMap(List::stream)
              .anyMatch(finding -> finding.level() == Level.PROBLEM);
      findings.put(check.name(), check.run(facts, problems));
    }
    List<String> forbidden = new ArrayList<>(new SettingsCheck().reasons(facts.spark()));
    List<Finding> directories = findings.get(LocalDirectoriesCheck.NAME);
    if (!directories.isEmpty()
        && directories.stream().allMatch(one -> one.level() == Level.PROBLEM)) {
      forbidden.add("Spark can write in none of its local directories");
    }
    if (!facts.probe().usable()) {
      forbidden.addAll(facts.probe().reasons());
    }
    facts.peer().stream()
        .filter(finding -> finding.level() == Level.PROBLEM)
        .map(finding -> finding.message().replaceFirst("\\.$", ""))
        .forEach(forbidden::add);
    if (forbidden.isEmpty() && facts.probe().usable()) {
      return new Report(true, List.of(facts.probe().inWords()), findings);
    }
    return new Report(false, List.copyOf(forbidden), findings);
  }
}
