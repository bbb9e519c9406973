// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.history;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import org.apache.spark.util.kvstore.InMemoryStore;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.ui.StoredFigures;
import org.sparkrdma.shuffle.ui.figures.ApplicationFigures;
import org.sparkrdma.shuffle.ui.figures.BytesByPath;
import org.sparkrdma.shuffle.ui.figures.StageBytes;

class FigureStoreTest {
  private final InMemoryStore store = new InMemoryStore();

  @Test
  void shouldReadTheSameFiguresFromTheStore() throws Exception {
    ApplicationFigures figures = new ApplicationFigures();
    figures.note("a note");
    figures.start("1", "host-a");
    figures.report("1", Map.of("state", "up", "engine", "soft", "read", 1L << 40), 1_000);
    figures.addTask("1", 4, 10, 20, 5_000);
    figures.addTask("2", 5, 30, 40, 9_000);
    figures.addReceived(5, new BytesByPath(29, 3, 1, 0));
    figures.remove("2", "lost");
    store.write(FigureStore.entry(figures));
    ApplicationFigures read = FigureStore.read(store);
    assertThat(json(read)).isEqualTo(json(figures));
    assertThat(json(figures).findValue("read").asLong()).isEqualTo(1L << 40);
    assertThat(read.lastTimeMs()).isEqualTo(9_000);
    assertThat(read.snapshot(0).executors().get("1").host()).isEqualTo("host-a");
  }

  @Test
  void shouldReadNothingFromAStoreWithoutFiguresOrWithOthers() throws Exception {
    assertThat(FigureStore.read(store)).isNull();
    StoredFigures damaged = new StoredFigures();
    damaged.json = "{\"executors\":[1],\"stages\":{},\"notes\":1,\"series\":[[1]]}";
    store.write(damaged);
    assertThat(FigureStore.read(store).isEmpty()).isTrue();
    damaged.json = "not JSON";
    store.write(damaged);
    assertThat(FigureStore.read(store)).isNull();
  }

  @Test
  void shouldReadStagesOfAnEarlierVersion() throws Exception {
    StoredFigures earlier = new StoredFigures();
    earlier.json = "{\"stages\":[[5,30,40]],\"executors\":{\"1\":{\"values\":{}}}}";
    store.write(earlier);
    assertThat(FigureStore.read(store).snapshot(0).stages())
        .containsExactly(new StageBytes(5, 30, 40, BytesByPath.NONE));
    assertThat(FigureStore.read(store).snapshot(0).executors().get("1").host()).isEmpty();
  }

  private static JsonNode json(ApplicationFigures figures) throws Exception {
    return new ObjectMapper().readTree(FigureStore.entry(figures).json);
  }
}
