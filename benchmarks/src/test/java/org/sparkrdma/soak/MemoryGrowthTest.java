// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkrdma.soak.MemoryGrowth.Row;
import org.sparkrdma.soak.MemorySnapshot.Moment;

class MemoryGrowthTest {
  private static final List<LongLivedExecutor> EXECUTORS =
      List.of(new LongLivedExecutor("4", 9, List.of()));

  private static final MemorySnapshot WARM_UP_END =
      new MemorySnapshot(
          Moment.WARM_UP_END,
          300,
          8,
          "4",
          new ResidentPages(150, 40, 2),
          Map.of("Code", 30.0, "Class", 10.0, "GC", 50.0, "Compiler", 6.0));

  private static final MemorySnapshot END =
      new MemorySnapshot(
          Moment.END,
          1_195,
          108,
          "4",
          new ResidentPages(230, 39.5, 2),
          Map.of("Code", 42.0, "Class", 35.0, "GC", 50.9, "Compiler", 3.0, "Other", 4.0));

  @Test
  void shouldNameTheCategoriesThatGrewLargestFirst() {
    assertThat(growth(WARM_UP_END, END).categories())
        .containsExactly(
            new Row("Class", 10, 35, 0.25),
            new Row("Code", 30, 42, 0.12),
            new Row("Other", 0, 4, 0.04),
            Row.of("GC", 50, 50.9, 100),
            new Row("Compiler", 6, 3, -0.03));
  }

  @Test
  void shouldSayWhichGrowthIsNotInTheAccountOfTheJvm() {
    List<Row> totals = growth(WARM_UP_END, END).totals();
    assertThat(totals)
        .extracting(Row::memory)
        .containsExactly(
            "the JVM's account",
            "anonymous pages",
            "file-mapped pages",
            "shared pages",
            "not in the JVM's account");
    assertThat(totals)
        .extracting(row -> Math.round(row.growthMib() * 10))
        .containsExactly(389L, 800L, -5L, 0L, 411L);
  }

  @Test
  void shouldPrintOnlyCategoriesThatChangedByAMibAndAllTotals() {
    assertThat(table(WARM_UP_END, END))
        .isEqualTo(
            """

            executor 4, from the end of the warm-up (300 s) to the end (1195 s), 100 jobs
            native memory, MiB        warm-up    end  growth  per job
            Class                        10.0   35.0   +25.0    +0.25
            Code                         30.0   42.0   +12.0    +0.12
            Other                         0.0    4.0    +4.0    +0.04
            Compiler                      6.0    3.0    -3.0    -0.03
            the JVM's account            96.0  134.9   +38.9    +0.39
            anonymous pages             150.0  230.0   +80.0    +0.80
            file-mapped pages            40.0   39.5    -0.5    -0.01
            shared pages                  2.0    2.0    +0.0    +0.00
            not in the JVM's account     54.0   95.1   +41.1    +0.41
            """);
  }

  @Test
  void shouldPrintThePagesWhenOneAccountIsMissing() {
    MemorySnapshot end = new MemorySnapshot(Moment.END, 1_195, 108, "4", END.pages(), Map.of());
    assertThat(table(WARM_UP_END, end))
        .contains("100 jobs, without the JVM's account\n", "anonymous pages")
        .doesNotContain("Class", "not in the JVM's account");
  }

  @Test
  void shouldPrintALineForAnExecutorWithoutTwoSnapshots() {
    List<MemoryGrowth> none = MemoryGrowth.of(List.of(END), EXECUTORS);
    assertThat(none).isEmpty();
    assertThat(MemoryGrowthTable.of(EXECUTORS, none))
        .isEqualTo("\nexecutor 4: no two snapshots of its native memory\n");
  }

  @Test
  void shouldCompareOnlyExecutorsThatAreJudged() {
    assertThat(MemoryGrowth.of(List.of(WARM_UP_END, END), List.of())).isEmpty();
  }

  @Test
  void shouldGiveNoGrowthPerJobWhenNoJobWasComplete() {
    MemorySnapshot end =
        new MemorySnapshot(Moment.END, 1_195, 8, "4", END.pages(), END.committedMib());
    assertThat(growth(WARM_UP_END, end).categories()).allMatch(row -> row.perJobMib() == null);
    assertThat(table(WARM_UP_END, end)).containsPattern("(?m) \\+25\\.0$");
  }

  @Test
  void shouldWriteTheGrowthIntoTheReport() throws Exception {
    JsonNode json = new ObjectMapper().valueToTree(growth(WARM_UP_END, END));
    assertThat(json.at("/jobs").intValue()).isEqualTo(100);
    assertThat(json.at("/categories/0").toString())
        .isEqualTo(
            "{\"memory\":\"Class\",\"fromMib\":10.0,\"toMib\":35.0,\"perJobMib\":0.25,"
                + "\"growthMib\":25.0}");
    assertThat(json.at("/totals/4/memory").textValue()).isEqualTo("not in the JVM's account");
  }

  private static MemoryGrowth growth(MemorySnapshot from, MemorySnapshot to) {
    List<MemoryGrowth> growths = MemoryGrowth.of(List.of(from, to), EXECUTORS);
    assertThat(growths).hasSize(1);
    return growths.get(0);
  }

  private static String table(MemorySnapshot from, MemorySnapshot to) {
    return MemoryGrowthTable.of(EXECUTORS, MemoryGrowth.of(List.of(from, to), EXECUTORS));
  }
}
