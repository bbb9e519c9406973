// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.query;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class TpcdsTablesTest {
  private static final double SCALE = 0.01;

  private final TableGenerator tables = new TpcdsTables();

  private List<String> lines(String table, int parts) {
    List<String> lines = new ArrayList<>();
    for (int part = 1; part <= parts; part++) {
      tables.lines(table, SCALE, part, parts).forEachRemaining(lines::add);
    }
    return lines;
  }

  @Test
  void shouldGiveTheSameRowsInEveryNumberOfParts() {
    List<String> whole = lines("web_returns", 1);
    assertThat(whole).hasSizeGreaterThan(500).doesNotHaveDuplicates();
    assertThat(lines("web_returns", 3)).isEqualTo(whole);
  }

  @Test
  void shouldHaveAColumnForEachValueOfARow() {
    assertThat(tables.tables()).hasSize(24);
    for (String table : List.of("web_sales", "web_returns", "item", "date_dim")) {
      int columns = tables.schema(table).split(", (?=[a-z])", -1).length;
      String first = tables.lines(table, SCALE, 1, 1).next();
      assertThat(first.split("\\|", -1)).as(table).hasSize(columns);
    }
  }
}
