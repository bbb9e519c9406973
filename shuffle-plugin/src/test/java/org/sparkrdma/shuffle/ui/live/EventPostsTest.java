// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.spark.util.JsonProtocol$;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.Figure;
import org.sparkrdma.shuffle.ui.RdmaShuffleEvent;
import org.sparkrdma.shuffle.ui.figures.BytesByPath;

class EventPostsTest {
  private static final int EXECUTORS = 100;
  private static final int STAGES = 10;
  private static final long HOUR_MS = 3_600_000;

  private final List<RdmaShuffleEvent> events = new ArrayList<>();
  private BytesByPath total = BytesByPath.NONE;
  private final EventPosts posts = new EventPosts(events::add, () -> total, List.of());

  @Test
  void shouldAddAtMostAMegabytePerHourAtAHundredBusyExecutors() {
    Random random = new Random(13);
    Map<String, Map<String, Object>> reported = new HashMap<>();
    Map<Integer, List<Long>> stages = new HashMap<>();
    for (long nowMs = 0; nowMs < HOUR_MS; nowMs += 500) {
      for (int i = 0; i < EXECUTORS; i++) {
        if ((nowMs / 500 + i) % 20 == 0) {
          Map<String, Object> figures = allChanged(i, random);
          posts.add(Integer.toString(i), figures);
          for (int stage = 0; stage < STAGES; stage++) {
            int stageId = (int) (nowMs / 60_000) * STAGES + stage;
            long bytes = random.nextLong(1_000_000_000_000L);
            BytesByPath received = new BytesByPath(bytes, bytes / 2, bytes / 3, 0);
            posts.addStage(stageId, received);
            stages.put(stageId, List.of(bytes, bytes / 2, bytes / 3));
          }
          reported.put(Integer.toString(i), figures);
          total = total.plus(new BytesByPath(1_000_000_000, 400_000_000, 3_000_000, 0));
          posts.postIfDue(nowMs);
        }
      }
    }
    posts.postLast(HOUR_MS);
    long bytes =
        events.stream()
            .mapToLong(event -> JsonProtocol$.MODULE$.sparkEventToJsonString(event).length() + 1)
            .sum();
    long withTotals = events.stream().filter(event -> !event.totals().isEmpty()).count();
    System.out.println(
        "event log per hour, 100 executors: "
            + (bytes + " bytes in " + events.size())
            + (" events, of these with totals only: " + withTotals));
    assertThat(bytes).isBetween(300_000L, 1_000_000L);
    assertThat(events.size() - withTotals).isGreaterThan(8);
    assertThat(events.size()).as("points of the chart").isGreaterThan(350);
    assertThat(merged()).isEqualTo(reported);
    assertThat(mergedStages()).isEqualTo(stages);
    for (int i = 1; i < events.size() - 1; i++) {
      assertThat(events.get(i).timeMs() - events.get(i - 1).timeMs())
          .isGreaterThanOrEqualTo(10_000);
    }
  }

  @Test
  void shouldForgetTheEarliestOfTooManyExecutors() {
    for (int i = 0; i <= EventPosts.MAX_EXECUTORS; i++) {
      posts.add("executor " + i, Map.of("read", 1L));
    }
    posts.postLast(0);
    for (int i = 1; i <= EventPosts.MAX_EXECUTORS; i++) {
      posts.add("executor " + i, Map.of("read", 1L));
    }
    posts.postLast(1);
    assertThat(events).as("nothing has changed of those that are remembered").hasSize(1);
    posts.add("executor 0", Map.of("read", 1L));
    posts.postLast(2);
    assertThat(events).hasSize(2);
    assertThat(events.get(1).figures()).containsOnlyKeys("executor 0");
  }

  @Test
  void shouldPostOnlyWhatHasChanged() {
    posts.add("1", Map.of("engine", "soft", "read", 1L));
    posts.postIfDue(0);
    posts.add("1", Map.of("engine", "soft", "read", 2L));
    posts.postIfDue(9_999);
    assertThat(events).hasSize(1);
    posts.postIfDue(10_000);
    assertThat(events).hasSize(2);
    assertThat(events.get(1).figures()).isEqualTo(Map.of("1", Map.of("read", 2L)));
    posts.add("1", Map.of("engine", "soft", "read", 2L));
    posts.postLast(50_000);
    assertThat(events).hasSize(2);
  }

  /** An event of 4,100 bytes delays the next one with figures of executors by 20.5 s. */
  @Test
  void shouldPostChangedTotalsEveryTenSecondsWhileTheFiguresOfExecutorsMustWait() {
    posts.add("1", Map.of("reasons", "x".repeat(4_000), "read", 1L));
    total = new BytesByPath(1, 0, 0, 7);
    posts.postIfDue(0);
    posts.add("1", Map.of("read", 5L));
    total = new BytesByPath(5, 2, 1, 7);
    posts.postIfDue(9_999);
    assertThat(events).hasSize(1);
    posts.postIfDue(10_000);
    assertThat(events).hasSize(2);
    assertThat(events.get(1).totals()).containsExactly(5L, 2L, 1L);
    assertThat(events.get(1).figures()).isEmpty();

    total = new BytesByPath(5, 2, 1, 99);
    posts.postIfDue(20_000);
    assertThat(events).as("only local bytes have changed").hasSize(2);
    posts.postIfDue(22_000);
    assertThat(events).hasSize(3);
    assertThat(events.get(2).totals()).isEmpty();
    assertThat(events.get(2).figures()).isEqualTo(Map.of("1", Map.of("read", 5L)));
    posts.postIfDue(32_000);
    assertThat(events).as("nothing has changed").hasSize(3);
  }

  /** Ten executors report every half second, so that each report finds changes. */
  @Test
  void shouldPostAtMostOneEventInTenSecondsAndOneMoreAtTheEnd() {
    long endMs = 64_500;
    for (long nowMs = 0; nowMs < endMs; nowMs += 50) {
      posts.add(Long.toString(nowMs / 50 % 10), Map.of("read", nowMs));
      posts.postIfDue(nowMs);
    }
    assertThat(events)
        .extracting(RdmaShuffleEvent::timeMs)
        .containsExactly(0L, 10_000L, 20_000L, 30_000L, 40_000L, 50_000L, 60_000L);

    posts.postLast(endMs);
    assertThat(events).hasSize(8).last().extracting(RdmaShuffleEvent::timeMs).isEqualTo(endMs);
    assertThat(merged()).containsEntry("9", Map.of("read", endMs - 50));

    posts.postLast(endMs + 200);
    assertThat(events).as("no executor has reported since").hasSize(8);
    posts.add("9", Map.of("read", endMs));
    posts.postLast(endMs + 200);
    assertThat(events).as("a report in the last wait").hasSize(9);
    assertThat(events.get(8).figures()).isEqualTo(Map.of("9", Map.of("read", endMs)));
  }

  @Test
  void shouldPostNotesOnceAndChangesOfAnExecutorThatHasEnded() {
    EventPosts noted = new EventPosts(events::add, () -> total, List.of("local mode"));
    noted.postLast(0);
    noted.add("1", Map.of("read", 1L));
    noted.remove("1");
    noted.postLast(1);
    assertThat(events)
        .extracting(RdmaShuffleEvent::notes)
        .containsExactly(List.of("local mode"), List.of());
    assertThat(events.get(1).figures()).containsOnlyKeys("1");
  }

  @Test
  void shouldPostTheLatestSumsOfEachStageOnce() {
    posts.addStage(3, new BytesByPath(10, 2, 1, 0));
    posts.addStage(3, new BytesByPath(20, 4, 1, 0));
    posts.postLast(0);
    posts.postLast(20_000);
    assertThat(events).hasSize(1);
    assertThat(events.get(0).stages()).isEqualTo(List.of(List.of(3L, 20L, 4L, 1L)));
    for (int stage = 0; stage < 5_000; stage++) {
      posts.addStage(stage, new BytesByPath(1, 0, 0, 0));
    }
    posts.postLast(40_000);
    assertThat(events.get(1).stages()).hasSize(500).last().isEqualTo(List.of(4_999L, 1L, 0L, 0L));
  }

  private Map<Integer, List<Long>> mergedStages() {
    Map<Integer, List<Long>> merged = new HashMap<>();
    events.forEach(
        event ->
            event
                .stages()
                .forEach(one -> merged.put(one.get(0).intValue(), one.subList(1, one.size()))));
    return merged;
  }

  private Map<String, Map<String, Object>> merged() {
    Map<String, Map<String, Object>> merged = new HashMap<>();
    events.forEach(
        event ->
            event
                .figures()
                .forEach(
                    (id, figures) ->
                        merged.computeIfAbsent(id, key -> new HashMap<>()).putAll(figures)));
    return merged;
  }

  /** The longest report: every number has changed, and every reason of a fallback has occurred. */
  private static Map<String, Object> allChanged(int executor, Random random) {
    Map<String, Object> figures = new LinkedHashMap<>();
    for (Figure figure : Figure.values()) {
      figures.put(figure.label(), random.nextLong(1_000_000_000_000L));
    }
    for (FallbackReason reason : FallbackReason.values()) {
      figures.put(Figure.FALLBACK + reason.label(), random.nextLong(100_000));
    }
    figures.put(Figure.QUARANTINED_PEERS.label(), "17, 23, 29, 31, " + random.nextInt(100));
    figures.put(Figure.ADDRESSES.label(), "192.168.100." + executor + ":34567");
    return figures;
  }
}
