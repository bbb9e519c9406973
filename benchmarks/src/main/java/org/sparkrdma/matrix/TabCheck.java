// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import java.util.List;
import java.util.Optional;

/**
 * The tab of a cell's application with the plug-in: live, and in History Servers with and without
 * the jar.
 *
 * @param live empty without a tab
 * @param bytesByRead counted by the plug-in
 * @param errors ERROR lines of the driver's log
 */
record TabCheck(
    Optional<TabPage> live,
    long bytesByRead,
    List<String> errors,
    HistoryReplay withJar,
    HistoryReplay withoutJar) {
  private static final String ENGINE = "soft";

  /** The first error, in one sentence. */
  Optional<String> problem(SparkRelease spark) {
    if (!errors.isEmpty()) {
      return Optional.of("the driver has logged: " + errors.get(0));
    }
    Optional<String> inHistory = problem("with", withJar).or(() -> problem("without", withoutJar));
    if (inHistory.isPresent()) {
      return inHistory;
    }
    if (!withJar.unknownEvents().isEmpty()) {
      return Optional.of("the History Server with the jar does not know its events");
    }
    if (withoutJar.tab().isPresent()) {
      return Optional.of("the History Server without the jar has the tab");
    }
    return spark.hasTab() ? problemOfTab() : problemWithoutTab();
  }

  private static Optional<String> problem(String name, HistoryReplay replay) {
    if (!replay.errors().isEmpty()) {
      return Optional.of(
          "the History Server %s the jar has logged: %s".formatted(name, replay.errors().get(0)));
    }
    return replay.isComplete()
        ? Optional.empty()
        : Optional.of("the History Server %s the jar does not show all jobs".formatted(name));
  }

  private Optional<String> problemOfTab() {
    if (live.isEmpty() || !live.get().shows(ENGINE, bytesByRead)) {
      return Optional.of(wrong("UI of the application", live));
    }
    if (withJar.tab().isEmpty() || !withJar.tab().get().shows(ENGINE, bytesByRead)) {
      return Optional.of(wrong("History Server", withJar.tab()));
    }
    int warnings = withoutJar.unknownEvents().size();
    return warnings == 1
        ? Optional.empty()
        : Optional.of(
            "the History Server without the jar has logged %d WARN lines".formatted(warnings));
  }

  private String wrong(String server, Optional<TabPage> tab) {
    return "the tab in the %s is wrong: readBytes=%d tab=%s"
        .formatted(server, bytesByRead, tab.map(TabPage::toString).orElse("missing"));
  }

  private Optional<String> problemWithoutTab() {
    if (live.isPresent() || withJar.tab().isPresent()) {
      return Optional.of("this version of Spark has the tab");
    }
    return withoutJar.unknownEvents().isEmpty()
        ? Optional.empty()
        : Optional.of("the event log has events that no History Server reads");
  }
}
