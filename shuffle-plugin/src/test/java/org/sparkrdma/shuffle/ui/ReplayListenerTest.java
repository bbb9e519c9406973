// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReplayListenerTest {
  private final ApplicationFigures figures = new ApplicationFigures();
  private final RdmaHistoryPlugin.ReplayListener listener =
      new RdmaHistoryPlugin.ReplayListener(figures);

  @Test
  void shouldShowTheLatestFiguresOfALog() {
    listener.onOtherEvent(event(100, new BytesByPath(1, 0, 2, 0)));
    listener.onOtherEvent(event(400, new BytesByPath(3, 1, 4, 0)));
    assertThat(figures.totals().bytes()).isEqualTo(new BytesByPath(400, 0, 0, 0));
    assertThat(figures.snapshot().notes()).containsExactly("a note");
    assertThat(figures.snapshot().stages()).containsExactly(new StageBytes(7, 0, 0, 3, 1, 4));
  }

  private static RdmaShuffleEvent event(long read, BytesByPath ofStage) {
    return new RdmaShuffleEvent(
        RdmaShuffleEvent.SCHEMA,
        9,
        List.of("a note"),
        Map.of("1", Map.of("state", "up", "read", read)),
        Map.of(7, ofStage));
  }
}
