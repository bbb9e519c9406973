// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.apache.spark.util.kvstore.InMemoryStore;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.ui.RdmaShuffleEvent;
import org.sparkrdma.shuffle.ui.figures.ApplicationFigures;
import org.sparkrdma.shuffle.ui.figures.BytesByPath;

class ReplayListenerTest {
  private final ApplicationFigures figures = new ApplicationFigures();
  private final ReplayListener listener = new ReplayListener(figures);

  @Test
  void shouldShowTotalsInTheChartBetweenFiguresOfExecutors() throws Exception {
    listener.onOtherEvent(executor(0, 100));
    listener.onOtherEvent(RdmaShuffleEvent.ofTotals(10_000, List.of(200L, 50L, 7L)));
    // Spark's own events come between; the executor's figures are then those of the first event.
    figures.addTask("1", 4, 150, 30, 12_000);
    listener.onOtherEvent(RdmaShuffleEvent.ofTotals(20_000, List.of(300L, 60L, 8L)));
    assertThat(points(figures))
        .containsExactly(
            new BytesByPath(100, 0, 0, 0),
            new BytesByPath(200, 50, 7, 0),
            new BytesByPath(200, 50, 7, 30),
            new BytesByPath(300, 60, 8, 30),
            new BytesByPath(300, 60, 8, 30));

    InMemoryStore store = new InMemoryStore();
    store.write(FigureStore.entry(figures));
    assertThat(points(FigureStore.read(store))).isEqualTo(points(figures));

    listener.onOtherEvent(executor(30_000, 400));
    assertThat(points(figures)).last().isEqualTo(new BytesByPath(400, 60, 8, 30));
  }

  private static RdmaShuffleEvent executor(long timeMs, long read) {
    Map<String, Map<String, Object>> one = Map.of("1", Map.of("state", "up", "read", read));
    return RdmaShuffleEvent.of(timeMs, List.of(), one, Map.of());
  }

  /** The points of the chart; the last one is the present state. */
  private static List<BytesByPath> points(ApplicationFigures figures) {
    return figures.snapshot(0).points().stream().map(point -> point.bytes()).toList();
  }
}
