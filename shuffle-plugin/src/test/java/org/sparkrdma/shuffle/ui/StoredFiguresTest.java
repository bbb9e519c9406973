// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.apache.spark.util.kvstore.InMemoryStore;
import org.junit.jupiter.api.Test;

class StoredFiguresTest {
  private final InMemoryStore store = new InMemoryStore();

  @Test
  void shouldShowTheSamePageFromTheStore() throws Exception {
    ApplicationFigures figures = new ApplicationFigures();
    figures.note("a note");
    figures.report("1", Map.of("state", "up", "engine", "soft", "read", 1L << 40), 1_000);
    figures.addTask("1", 4, 10, 20, 5_000);
    figures.addTask("2", 5, 30, 40, 9_000);
    figures.remove("2", "lost");
    store.write(StoredFigures.of(figures));
    ApplicationFigures read = StoredFigures.read(store);
    assertThat(read.page(10_000)).isEqualTo(figures.page(10_000)).contains("1.0 TiB");
    assertThat(read.lastTimeMs()).isEqualTo(9_000);
  }

  @Test
  void shouldAddOnePointOfAllExecutorsThatReportTogether() {
    ApplicationFigures figures = new ApplicationFigures();
    figures.report(
        Map.of(
            "1", Map.of("engine", "soft", "read", 5L), "2", Map.of("engine", "soft", "read", 7L)),
        1_000);
    assertThat(figures.toMap().get("series")).isEqualTo(List.of(List.of(1_000L, 12L, 0L, 0L, 0L)));
  }

  @Test
  void shouldReadNothingFromAStoreWithoutFiguresOrWithOthers() throws Exception {
    assertThat(StoredFigures.read(store)).isNull();
    StoredFigures damaged = new StoredFigures();
    damaged.json = "{\"executors\":[1],\"stages\":{},\"notes\":1,\"series\":[[1]]}";
    store.write(damaged);
    assertThat(StoredFigures.read(store).isEmpty()).isTrue();
    damaged.json = "not JSON";
    store.write(damaged);
    assertThat(StoredFigures.read(store)).isNull();
  }

  @Test
  void shouldForgetTheEarliestRemovedExecutors() {
    ApplicationFigures figures = new ApplicationFigures();
    figures.report("stays", Map.of("engine", "soft"), 0);
    for (int i = 0; i < 5_000; i++) {
      figures.report("e" + i, Map.of("engine", "soft"), 0);
      figures.remove("e" + i, "idle");
      figures.addTask("e" + i, i, 1, 1, 0);
    }
    String page = figures.page(0);
    assertThat(page)
        .contains("<td>stays</td>")
        .contains("<td>e4999</td>")
        .doesNotContain("<td>e10</td>");
    assertThat(page.length()).isLessThan(2_000_000);
  }
}
