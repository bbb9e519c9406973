// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CellSelectionTest {
  private static final Map<Integer, Path> BOTH =
      Map.of(17, Path.of("/jdk-17"), 25, Path.of("/jdk-25"));

  @Test
  void shouldRunEveryCellThatSparkSupportsAndTheMachineHas() {
    assertThat(names(of(BOTH, "all")))
        .containsExactly(
            "3.5.9-2.12-17",
            "3.5.9-2.13-17",
            "4.0.2-2.13-17",
            "4.1.3-2.13-17",
            "4.2.0-2.13-17",
            "4.2.0-2.13-25");
  }

  @Test
  void shouldReportWhyEachOtherCellIsNotRun() {
    CellSelection selection = of(BOTH, "all");
    assertThat(selection.toRun().size() + selection.notRun().size()).isEqualTo(15);
    assertThat(selection.notRun())
        .contains(
            new CellSelection.NotRun("3.5.9", "2.12", "25", "Spark 3.5.9 supports Java 8, 11, 17"),
            new CellSelection.NotRun("4.0.2", "2.13", "25", "Spark 4.0.2 supports Java 17, 21"),
            new CellSelection.NotRun("4.2.0", "2.13", "21", "no JDK 21 on this machine"));
  }

  @Test
  void shouldPickTheOldestAndTheNewestThatThisMachineCanRun() {
    assertThat(names(of(BOTH, "newest", "oldest")))
        .containsExactly("3.5.9-2.12-17", "4.2.0-2.13-25");
    assertThat(names(of(Map.of(17, Path.of("/jdk-17")), "newest")))
        .containsExactly("4.2.0-2.13-17");
  }

  @Test
  void shouldRunANamedCellOnce() {
    assertThat(names(of(BOTH, "4.0.2-2.13-17", "4.0.2-2.13-17"))).containsExactly("4.0.2-2.13-17");
  }

  @Test
  void shouldRefuseACellThatCannotRunInOneSentence() {
    assertThatThrownBy(() -> of(BOTH, "3.4.0-2.12-17"))
        .hasMessageStartingWith("no such cell: '3.4.0-2.12-17'; give all, oldest, newest or names");
    assertThatThrownBy(() -> of(BOTH, "3.5.9-2.12-25"))
        .hasMessage("cannot run 3.5.9-2.12-25: Spark 3.5.9 supports Java 8, 11, 17");
    assertThatThrownBy(() -> of(Map.of(), "all")).hasMessageStartingWith("no JDK of 17 or 25");
  }

  private static CellSelection of(Map<Integer, Path> javaHomes, String... names) {
    return CellSelection.of(List.of(names), javaHomes);
  }

  private static List<String> names(CellSelection selection) {
    return selection.toRun().stream().map(Cell::name).toList();
  }
}
