// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Selects the runs of the command line: {@code -Dit.suites=…} and {@code -Dit.settings=…}. */
final class SuiteSelection {
  private final Set<String> suites;
  private final Set<String> settings;

  /**
   * @param suites comma-separated simple names, empty for all
   * @param settings comma-separated settings, empty for all but vanilla
   */
  SuiteSelection(String suites, String settings) {
    this.suites = names(suites);
    this.settings = names(settings.toLowerCase(Locale.ROOT));
  }

  /**
   * The runs that match both lists.
   *
   * @throws IllegalArgumentException when a name is unknown or no run matches
   */
  List<SuiteRun> from(List<SuiteRun> all) {
    requireKnown("it.suites", suites, all.stream().flatMap(run -> run.suites().stream()).toList());
    requireKnown(
        "it.settings", settings, Arrays.stream(Setting.values()).map(Setting::label).toList());
    List<SuiteRun> runs =
        all.stream()
            .filter(this::hasWantedSetting)
            .map(run -> suites.isEmpty() ? run : run.withSuites(suites))
            .filter(run -> !run.suiteClasses().isEmpty())
            .toList();
    if (runs.isEmpty()) {
      throw new IllegalArgumentException(
          "no run has both: it.suites="
              + String.join(",", new TreeSet<>(suites))
              + (" it.settings=" + String.join(",", new TreeSet<>(settings))));
    }
    return runs;
  }

  private boolean hasWantedSetting(SuiteRun run) {
    return settings.isEmpty()
        ? run.setting() != Setting.VANILLA
        : settings.contains(run.setting().label());
  }

  private static void requireKnown(String key, Set<String> given, List<String> known) {
    for (String name : given) {
      if (!known.contains(name)) {
        throw new IllegalArgumentException(
            "unknown name: " + key + "=" + name + " known=" + new TreeSet<>(known));
      }
    }
  }

  private static Set<String> names(String list) {
    return Arrays.stream(list.split(",", -1))
        .map(String::strip)
        .filter(name -> !name.isEmpty())
        .collect(Collectors.toSet());
  }
}
