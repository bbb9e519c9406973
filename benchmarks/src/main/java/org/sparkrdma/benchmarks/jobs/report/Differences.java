// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.sparkrdma.benchmarks.jobs.environment.Environment;
import org.sparkrdma.benchmarks.jobs.plan.ShuffleMode;

/**
 * Differences that make two reports hard to compare: their options, versions and settings.
 * Stateless.
 */
final class Differences {
  /** These differ between any two runs. */
  private static final Set<String> OF_EACH_RUN =
      Set.of("spark.shuffle.service.port", "spark.shuffle.rdmaDirectory");

  private static final String NONE = "-";

  private Differences() {}

  /** Rows of a table, the headings first; a row for each difference. */
  static List<List<String>> of(BenchmarkReport first, BenchmarkReport second) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("difference", "first", "second"));
    Map<String, String> one = values(first);
    Map<String, String> other = values(second);
    addModes(first, second, one, other);
    Set<String> names = new TreeSet<>(one.keySet());
    names.addAll(other.keySet());
    for (String name : names) {
      String before = one.getOrDefault(name, NONE);
      String after = other.getOrDefault(name, NONE);
      if (!before.equals(after)) {
        rows.add(List.of(name, before, after));
      }
    }
    return rows;
  }

  /** Reports of older versions do not know all of these. */
  private static Map<String, String> values(BenchmarkReport report) {
    Environment environment = report.environment();
    Map<String, String> values = new TreeMap<>();
    values.put("--concurrent", Integer.toString(report.plan().concurrent()));
    values.put("--warm-ups", Integer.toString(report.plan().warmUps()));
    values.put("executors", Integer.toString(BenchmarkPage.executors(report)));
    values.put("Spark", environment.spark());
    values.put("Java", environment.java());
    values.put("driver's host", environment.host());
    values.put("plug-in", environment.version());
    values.put("executors' JVM", environment.jvm());
    values.putAll(environment.settings());
    values.putAll(environment.fixedSettings());
    values.values().removeIf(Objects::isNull);
    values.keySet().removeAll(OF_EACH_RUN);
    return values;
  }

  /** Adds the settings of the shuffles that both reports have. */
  private static void addModes(
      BenchmarkReport first,
      BenchmarkReport second,
      Map<String, String> one,
      Map<String, String> other) {
    for (ShuffleMode mode : first.plan().modes()) {
      if (second.plan().modes().contains(mode)) {
        add(mode, first, one);
        add(mode, second, other);
      }
    }
  }

  private static void add(ShuffleMode mode, BenchmarkReport report, Map<String, String> values) {
    report
        .shuffleSettings(mode)
        .forEach((key, value) -> values.put("%s: %s".formatted(mode, key), value));
  }
}
