// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/** Runs all checks in order and gives the answer. Stateless. */
public final class Doctor {
  private static final String LOCAL_DIRECTORIES = "local directories";
  private static final int MAX_STEPS = 3;

  /**
   * A check by its name, of one to three words.
   *
   * @param forHardware whether it is left out where the chosen device is a loopback device
   * @param forbids whether RDMA is not used when it finds a problem
   * @param check reads the facts; no findings where the matter does not arise
   */
  private record Check(
      String name, boolean forHardware, boolean forbids, Function<Facts, List<Finding>> check) {}

  /** Causes stand before what follows from them, because that is the order of steps. */
  private static final List<Check> CHECKS =
      List.of(
          new Check("settings", false, true, SettingsCheck::run),
          new Check("spark", false, true, SparkCheck::run),
          new Check("system", false, false, MachineChecks::system),
          new Check("ports", true, false, PortChecks::states),
          new Check("arp", true, false, PortChecks::arp),
          new Check("locked memory", false, false, MachineChecks::lockedMemory),
          new Check("open files", false, true, MachineChecks::openFiles),
          new Check("mappings", true, false, MachineChecks::mappings),
          new Check("directory names", false, true, MachineChecks::directoryNames),
          new Check(LOCAL_DIRECTORIES, false, false, MachineChecks::localDirectories),
          new Check("peer", false, false, Facts::peer),
          new Check("engine", false, false, EngineCheck::run),
          new Check("loss and congestion", true, false, PortChecks::counters));

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

    /** Problems, then warnings, with what to do: the most important first, at most three. */
    public List<Finding> steps() {
      Set<String> advices = new HashSet<>();
      return Stream.of(Level.PROBLEM, Level.WARNING)
          .flatMap(level -> all().filter(finding -> finding.level() == level))
          .filter(finding -> advices.add(finding.advice()))
          .limit(MAX_STEPS)
          .toList();
    }

    private Stream<Finding> all() {
      return findings.values().stream().flatMap(List::stream);
    }
  }

  /** Runs all checks; takes as long as the pause of the facts. */
  public static Report run(Facts facts) {
    Map<String, List<Finding>> findings = new LinkedHashMap<>();
    List<String> forbidden = new ArrayList<>();
    for (Check one : CHECKS) {
      if (!one.forHardware() || !facts.loopback()) {
        List<Finding> found = one.check().apply(facts);
        findings.put(one.name(), found);
        forbidden.addAll(one.forbids() ? problems(found) : List.of());
      }
    }
    List<Finding> directories = findings.get(LOCAL_DIRECTORIES);
    if (!directories.isEmpty() && problems(directories).size() == directories.size()) {
      forbidden.add("Spark can write in none of its local directories");
    }
    if (!facts.probe().usable()) {
      forbidden.addAll(facts.probe().reasons());
    }
    forbidden.addAll(problems(facts.peer()));
    if (forbidden.isEmpty() && facts.probe().usable()) {
      return new Report(true, List.of(facts.probe().inWords()), findings);
    }
    return new Report(false, List.copyOf(forbidden), findings);
  }

  private static List<String> problems(List<Finding> findings) {
    return findings.stream()
        .filter(finding -> finding.level() == Level.PROBLEM)
        .map(finding -> finding.message().replaceFirst("\\.$", ""))
        .toList();
  }
}
