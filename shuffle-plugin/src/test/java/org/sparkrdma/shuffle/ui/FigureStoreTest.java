// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import org.apache.spark.util.kvstore.InMemoryStore;
import org.junit.jupiter.api.Test;

class FigureStoreTest {
  private final InMemoryStore store = new InMemoryStore();

  @Test
  void shouldReadTheSameFiguresFromTheStore() throws Exception {
    ApplicationFigures figures = new ApplicationFigures();
    figures.note("a note");
    figures.start("1", "host-a");
    figures.report("1", Map.of("state", "up", "engine", "soft", "read", 1L << 40));
    figures.addTask("1", 4, 10, 20);
    figures.addTask("2", 5, 30, 40);
    figures.setReceived(5, new BytesByPath(29, 3, 1, 0));
    figures.remove("2", "lost");
    store.write(RdmaHistoryPlugin.entry(figures));
    ApplicationFigures read = RdmaHistoryPlugin.read(store);
    assertThat(json(read)).isEqualTo(json(figures));
    assertThat(json(figures).findValue("read").asLong()).isEqualTo(1L << 40);
    assertThat(read.snapshot().executors().get("1").host()).isEqualTo("host-a");
  }

  @Test
  void shouldReadNothingFromAStoreWithoutFiguresOrWithOthers() throws Exception {
    assertThat(RdmaHistoryPlugin.read(store)).isNull();
    StoredFigures damaged = new StoredFigures();
    for (String json : new String[] {"{\"executors\":[1],\"stages\":{}}", "not JSON"}) {
      damaged.json = json;
      store.write(damaged);
      assertThat(RdmaHistoryPlugin.read(store)).isNull();
    }
  }

  @Test
  void shouldReadStagesOfAnEarlierVersion() throws Exception {
    StoredFigures earlier = new StoredFigures();
    earlier.json =
        "{\"stages\":[[5,30,40]],\"series\":[[1]],\"executors\":{\"1\":{\"values\":{}}}}";
    store.write(earlier);
    assertThat(RdmaHistoryPlugin.read(store).snapshot().stages())
        .containsExactly(new StageBytes(5, 30, 40, 0, 0, 0));
    assertThat(RdmaHistoryPlugin.read(store).snapshot().executors().get("1").host()).isEmpty();
  }

  private static JsonNode json(ApplicationFigures figures) throws Exception {
    return new ObjectMapper().readTree(RdmaHistoryPlugin.entry(figures).json);
  }
}
