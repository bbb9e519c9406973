// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TabCheckTest {
  private static final SparkRelease WITH_TAB = SparkRelease.all().get(4);
  private static final SparkRelease WITHOUT_TAB = SparkRelease.all().get(0);
  private static final Optional<TabPage> TAB = tab(List.of("soft", "soft"), 5);
  private static final Optional<TabPage> NONE = Optional.empty();
  private static final List<String> WARN = List.of("a WARN");

  @Test
  void shouldTakeAnApplicationWithItsTabInThatSpark() {
    HistoryReplay without = replay(NONE, WARN);
    assertThat(check(TAB, replay(TAB, List.of()), without).problem(WITH_TAB)).isEmpty();
    assertThat(check(TAB, replay(TAB, List.of()), without).problem(WITHOUT_TAB)).isPresent();
    HistoryReplay none = replay(NONE, List.of());
    assertThat(check(NONE, none, none).problem(WITHOUT_TAB)).isEmpty();
    assertThat(check(NONE, none, none).problem(WITH_TAB)).isPresent();
    assertThat(check(NONE, none, without).problem(WITHOUT_TAB)).isPresent();
  }

  @Test
  void shouldFindATabThatIsMissingOrWrong() {
    HistoryReplay with = replay(TAB, List.of());
    HistoryReplay without = replay(NONE, WARN);
    Optional<TabPage> fewer = tab(List.of("soft", "soft"), 4);
    Optional<TabPage> other = tab(List.of("soft", ""), 5);
    for (Optional<TabPage> wrong : List.of(NONE, fewer, other)) {
      assertThat(check(wrong, with, without).problem(WITH_TAB))
          .get()
          .asString()
          .startsWith("the tab in the UI of the application is wrong: readBytes=5 tab=");
      assertThat(check(TAB, replay(wrong, List.of()), without).problem(WITH_TAB))
          .get()
          .asString()
          .startsWith("the tab in the History Server is wrong: readBytes=5 tab=");
    }
    assertThat(check(TAB, with, with).problem(WITH_TAB)).isPresent();
    assertThat(check(TAB, with, replay(NONE, List.of())).problem(WITH_TAB)).isPresent();
    assertThat(check(TAB, replay(TAB, WARN), without).problem(WITH_TAB)).isPresent();
  }

  @Test
  void shouldFindErrorsAndJobsThatAreNotShown() {
    HistoryReplay with = replay(TAB, List.of());
    HistoryReplay without = replay(NONE, WARN);
    assertThat(new TabCheck(TAB, 5, List.of("x ERROR y"), with, without).problem(WITH_TAB))
        .contains("the driver has logged: x ERROR y");
    assertThat(
            check(TAB, with, new HistoryReplay(true, NONE, WARN, List.of("z"))).problem(WITH_TAB))
        .contains("the History Server without the jar has logged: z");
    assertThat(
            check(TAB, new HistoryReplay(false, TAB, List.of(), List.of()), without)
                .problem(WITH_TAB))
        .contains("the History Server with the jar does not show all jobs");
  }

  @Test
  void shouldReadThePage() {
    String row =
        "<tr><td>0</td><td>192.0.2.2</td><td>up</td><td>soft</td><td>soft0</td>"
            + "<td style=\"text-align:right\" sorttable_customkey=\"1\">1 B</td>".repeat(3)
            + "<td style=\"text-align:right\" sorttable_customkey=\"7\">7 B</td></tr>";
    assertThat(TabPage.parse("<table id=\"rdma-executors\">" + row + row + "</table>"))
        .contains(new TabPage(List.of("soft", "soft"), List.of("soft0", "soft0"), 14));
    assertThat(TabPage.parse("<table><tr></tr></table>")).isEmpty();
  }

  private static Optional<TabPage> tab(List<String> engines, long bytesByRead) {
    return Optional.of(new TabPage(engines, List.of("soft0", "soft1"), bytesByRead));
  }

  private static HistoryReplay replay(Optional<TabPage> tab, List<String> unknown) {
    return new HistoryReplay(true, tab, unknown, List.of());
  }

  private static TabCheck check(
      Optional<TabPage> live, HistoryReplay withJar, HistoryReplay withoutJar) {
    return new TabCheck(live, 5, List.of(), withJar, withoutJar);
  }
}
