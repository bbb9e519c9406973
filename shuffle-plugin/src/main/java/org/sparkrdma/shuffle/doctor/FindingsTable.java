// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.doctor;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.sparkrdma.shuffle.directory.ExecutorFindings;
import org.sparkrdma.shuffle.directory.ExecutorFindings.FindingLine;

/**
 * Findings of executors as text for the log. Executors with equal findings have one entry; those
 * without RDMA come first, then larger entries. Immutable.
 */
final class FindingsTable {
  private static final int MAX_GROUPS = 20;
  private static final int MAX_NAMES = 20;
  private static final String INDENT = " ".repeat(29);

  private final List<Group> groups;
  private final long used;
  private final long notUsed;

  /** Executors with equal findings; at least one. */
  private record Group(List<ExecutorFindings> executors) {
    boolean used() {
      return executors.get(0).used();
    }

    List<FindingLine> lines() {
      return executors.get(0).lines();
    }

    int size() {
      return executors.size();
    }
  }

  private record Key(boolean used, List<FindingLine> lines) {}

  FindingsTable(Collection<ExecutorFindings> all) {
    Map<Key, List<ExecutorFindings>> equal = new LinkedHashMap<>();
    for (ExecutorFindings one : sorted(all)) {
      equal.computeIfAbsent(new Key(one.used(), one.lines()), key -> new ArrayList<>()).add(one);
    }
    groups =
        equal.values().stream()
            .map(Group::new)
            .sorted(
                Comparator.comparing(Group::used)
                    .thenComparing(Comparator.comparing(Group::size).reversed()))
            .toList();
    used = all.stream().filter(ExecutorFindings::used).count();
    notUsed = all.size() - used;
  }

  /** Ids are numbers, but for the driver's. */
  private static List<ExecutorFindings> sorted(Collection<ExecutorFindings> all) {
    return all.stream()
        .sorted(
            Comparator.comparing((ExecutorFindings one) -> one.executorId().length())
                .thenComparing(ExecutorFindings::executorId))
        .toList();
  }

  /** The first line is the answer, with the first thing to do. */
  String text() {
    StringBuilder text = new StringBuilder();
    text.append("RDMA is used in ")
        .append(used)
        .append(", not used in ")
        .append(notUsed)
        .append(". First to do: ")
        .append(firstAdvice());
    for (Group group : groups.subList(0, Math.min(MAX_GROUPS, groups.size()))) {
      append(text, group);
    }
    if (groups.size() > MAX_GROUPS) {
      text.append("\n... and ")
          .append(groups.size() - MAX_GROUPS)
          .append(" more groups of executors with other findings");
    }
    return text.toString();
  }

  /** The advice of the first group with a problem, else of the first with a warning. */
  private String firstAdvice() {
    return first("problem").or(() -> first("warning")).orElse("nothing");
  }

  private Optional<String> first(String level) {
    return groups.stream()
        .flatMap(group -> group.lines().stream())
        .filter(line -> line.level().equals(level))
        .findFirst()
        .map(line -> line.advice() + " (" + line.check() + ")");
  }

  private static void append(StringBuilder text, Group group) {
    text.append('\n')
        .append(group.used() ? "RDMA is used: " : "RDMA is not used: ")
        .append(group.size() == 1 ? "executor " : group.size() + " executors, ")
        .append(names(group.executors().stream().map(ExecutorFindings::executorId).toList()))
        .append(" on ")
        .append(names(group.executors().stream().map(ExecutorFindings::host).distinct().toList()));
    if (group.lines().isEmpty()) {
      text.append("\n  ok");
    }
    for (FindingLine line : group.lines()) {
      text.append(
          String.format(
              Locale.ROOT, "\n  %-8s %-17s %s", line.level(), line.check(), line.message()));
      text.append('\n').append(INDENT).append("To do: ").append(line.advice());
    }
  }

  private static String names(List<String> names) {
    String first = String.join(", ", names.subList(0, Math.min(MAX_NAMES, names.size())));
    return names.size() > MAX_NAMES
        ? first + " and " + (names.size() - MAX_NAMES) + " more"
        : first;
  }
}
