// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Runs all checks in order and gives the answer. Stateless. */
public final class Doctor {
  private static final String LOCAL_DIRECTORIES = "local directories";
  private static final int MAX_STEPS = 3;

  /**
   * A check by its name, of one to three words.
   *
   * @param forHardware whether it is left out where the chosen device is a loopback device
   */
  private record Named(String name, boolean forHardware, Check check) {}

  /** Causes stand before what follows from them, because that is the order of steps. */
  private static final List<Named> CHECKS =
      List.of(
          new Named("settings", false, SettingsCheck::run),
          new Named("encryption", false, SettingsCheck::encryption),
          new Named("system", false, HostChecks::system),
          new Named("java", false, JavaCheck::run),
          new Named("environment", true, HostChecks::environment),
          new Named("kernel modules", true, HostChecks::modules),
          new Named("libraries", true, HostChecks::libraries),
          new Named("device files", true, HostChecks::deviceFiles),
          new Named("rdma namespace", true, HostChecks::namespace),
          new Named("spark address", false, HostChecks::sparkAddress),
          new Named("ports", true, PortsCheck::run),
          new Named("arp", true, NetworkChecks::arp),
          new Named("iwarp", true, NetworkChecks::portMapper),
          new Named("locked memory", false, LockedMemoryCheck::run),
          new Named("control groups", true, HostChecks::controlGroups),
          new Named(LOCAL_DIRECTORIES, false, LocalDirectoriesCheck::run),
          new Named("peer", false, Facts::peer),
          new Named("loss and congestion", true, CountersCheck::run));

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
      return all().filter(finding -> finding.level() == level).count();
    }

    /** Problems, then warnings, with what to do: the most important first, at most three. */
    public List<Finding> steps() {
      Set<String> advices = new HashSet<>(Set.of(EngineCheck.SEE_ABOVE));
      return Stream.of(Level.PROBLEM, Level.WARNING)
          .flatMap(level -> all().filter(finding -> finding.level() == level))
          .filter(finding -> advices.add(finding.advice()))
          .limit(MAX_STEPS)
          .toList();
    }

    /** Number of checks that have found neither a problem nor a warning. */
    public long passed() {
      return made().filter(findings -> findings.stream().noneMatch(Report::isWrong)).count();
    }

    /** Number of checks that have a finding. */
    public long checks() {
      return made().count();
    }

    private Stream<List<Finding>> made() {
      return findings.values().stream().filter(ofCheck -> !ofCheck.isEmpty());
    }

    private Stream<Finding> all() {
      return findings.values().stream().flatMap(List::stream);
    }

    private static boolean isWrong(Finding finding) {
      return finding.level() == Level.PROBLEM || finding.level() == Level.WARNING;
    }
  }

  /** Runs all checks; takes as long as the pause of the facts. */
  public static Report run(Facts facts) {
    Map<String, List<Finding>> findings = new LinkedHashMap<>();
    for (Named one : CHECKS) {
      if (!one.forHardware() || !facts.loopback()) {
        findings.put(one.name(), one.check().run(facts));
      }
    }
    boolean problems =
        findings.values().stream()
            .flatMap(List::stream)
            .anyMatch(finding -> finding.level() == Level.PROBLEM);
    findings.put("engine", EngineCheck.run(facts, problems));
    List<String> forbidden = new ArrayList<>(SettingsCheck.reasons(facts.spark()));
    List<Finding> directories = findings.get(LOCAL_DIRECTORIES);
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
