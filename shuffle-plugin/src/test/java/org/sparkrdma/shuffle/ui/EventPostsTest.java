// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.figures.ApplicationFigures;

class EventPostsTest {
  private final List<RdmaShuffleEvent> events = new ArrayList<>();
  private long reports;
  private final ApplicationFigures figures = new ApplicationFigures(true);
  private final EventPosts posts = new EventPosts(figures, events::add);

  /** An event of 4,100 bytes delays the next one by 20.5 s. */
  @Test
  void shouldPostLaterAfterALargeEvent() {
    figures.report("1", Map.of("reasons", "x".repeat(4_000), "read", 1L));
    posts.post(0, false);
    figures.report("1", Map.of("read", 5L));
    posts.post(20_000, false);
    assertThat(events).hasSize(2);
    assertThat(events.get(1).changes.figures()).isEmpty();
    assertThat(events.get(1).changes.totals()).containsEntry("read", 5L);
    posts.post(22_000, false);
    assertThat(events).hasSize(3);
    assertThat(events.get(2).changes.figures()).isEqualTo(Map.of("1", Map.of("read", 5L)));
    assertThat(events.get(2).changes.totals()).isEmpty();
  }

  /** Ten executors report every half second, so that each report finds changes. */
  @Test
  void shouldPostAtMostOneEventInTenSecondsAndOneMoreAtTheEnd() {
    long endMs = 64_500;
    for (long nowMs = 0; nowMs < endMs; nowMs += 50) {
      figures.report(Long.toString(nowMs / 50 % 10), Map.of("read", nowMs));
      posts.post(nowMs, false);
    }
    assertThat(events)
        .extracting(event -> event.timeMs())
        .containsExactly(0L, 10_000L, 20_000L, 30_000L, 40_000L, 50_000L, 60_000L);

    posts.post(endMs, true);
    assertThat(events).hasSize(8).last().extracting(event -> event.timeMs()).isEqualTo(endMs);
    assertThat(merged()).containsEntry("9", Map.of("read", endMs - 50));

    posts.post(endMs + 200, true);
    assertThat(events).as("no executor has reported since").hasSize(8);
    figures.report("9", Map.of("read", endMs));
    posts.post(endMs + 200, true);
    assertThat(events).as("a report in the last wait").hasSize(9);
    assertThat(events.get(8).changes.figures()).isEqualTo(Map.of("9", Map.of("read", endMs)));
  }

  @Test
  void shouldPostNotesOnceAndChangesOfAnExecutorThatHasEnded() {
    figures.note("local mode");
    posts.post(0, true);
    figures.report("1", Map.of("read", 1L));
    figures.remove("1", "idle");
    posts.post(1, true);
    assertThat(events)
        .extracting(event -> event.notes())
        .containsExactly(List.of("local mode"), List.of());
    assertThat(events.get(1).changes.figures()).containsOnlyKeys("1");
  }

  @Test
  void shouldPostTheLatestSumsOfEachStageOnce() {
    reportStage(3, 10, 2, 1);
    reportStage(3, 10, 2, 0);
    posts.post(0, true);
    posts.post(20_000, true);
    assertThat(events).hasSize(1);
    assertThat(events.get(0).stages()).isEqualTo(List.of(List.of(3L, 20L, 4L, 1L, 0L, 0L)));
    for (long stage = 0; stage < 5_000; stage++) {
      reportStage(stage, 1, 0, 0);
    }
    posts.post(40_000, true);
    assertThat(events.get(1).stages())
        .hasSize(ApplicationFigures.MAX_STAGES)
        .last()
        .isEqualTo(List.of(4_999L, 1L, 0L, 0L, 0L, 0L));
  }

  /** An executor reports more bytes of one stage. */
  private void reportStage(long stageId, long read, long copied, long tcp) {
    figures.report("1", Map.of("stages", List.of(++reports, stageId, read, copied, tcp)));
  }

  private Map<String, Map<String, Object>> merged() {
    Map<String, Map<String, Object>> merged = new HashMap<>();
    events.forEach(
        event ->
            event
                .changes
                .figures()
                .forEach(
                    (id, values) ->
                        merged.computeIfAbsent(id, key -> new HashMap<>()).putAll(values)));
    return merged;
  }
}
