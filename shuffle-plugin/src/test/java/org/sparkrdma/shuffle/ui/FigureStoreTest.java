// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.spark.util.kvstore.InMemoryStore;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.figures.ApplicationFigures;

class FigureStoreTest {
  private final InMemoryStore store = new InMemoryStore();

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

  /** Spark has dropped its events about the removed executor and about tasks of jobs that ended. */
  @Test
  void shouldShowTheSameOfACompactedLog() throws Exception {
    List<RdmaShuffleEvent> events = new ArrayList<>();
    ApplicationFigures live = new ApplicationFigures(true);
    EventPosts posts = new EventPosts(live, events::add);
    Consumer<ApplicationFigures> dropped =
        figures -> {
          figures.start("1", "host-a");
          figures.addTask("1", 3, 12, 7);
        };
    Consumer<ApplicationFigures> kept =
        figures -> {
          figures.start("2", "host-b");
          figures.addTask("2", 4, 0, 9);
          figures.addTask("2", 5, 1, 1);
        };
    dropped.accept(live);
    live.report("1", Map.of("state", "up", "read", 12L, "stages", List.of(1L, 3L, 12L, 0L, 0L)));
    posts.post(0, true);
    kept.accept(live);
    live.remove("1", "killed");
    live.report("2", Map.of("state", "off", "reasons", "no device"));
    live.end();
    posts.post(1, true);

    String[] shown = page(live).split("</?tr>", -1);
    ObjectMapper mapper = new ObjectMapper();
    for (Consumer<ApplicationFigures> left : List.of(kept, dropped.andThen(kept), dropped)) {
      ApplicationFigures figures = new ApplicationFigures(false);
      left.accept(figures);
      figures.end();
      for (RdmaShuffleEvent event : events) {
        String json = mapper.writeValueAsString(event);
        new RdmaHistoryPlugin.ReplayListener(figures)
            .onOtherEvent(mapper.readValue(json, RdmaShuffleEvent.class));
      }
      store.write(RdmaHistoryPlugin.entry(figures));
      assertThat(page(RdmaHistoryPlugin.read(store)).split("</?tr>", -1))
          .containsExactlyInAnyOrder(shown);
    }
  }

  @Test
  void shouldKeepNoChangesOfAReplayAndTheSumsOfExecutorsThatItForgets() throws Exception {
    List<RdmaShuffleEvent> events = new ArrayList<>();
    ApplicationFigures live = new ApplicationFigures(true);
    live.start("runs", "host-a");
    for (long i = 3_000; i > 0; i--) {
      live.report(
          "e" + i, Map.of("read", 2L, "quarantines", 1L, "highest", i, "fallback.disk", 3L));
      live.remove("e" + i, "idle");
    }
    String summary =
        "readBytes=6000 copiedBytes=0 tcpBytes=0 localBytes=0 broadcastBytes=0 fallbackBlocks=9000"
            + " quarantines=3000 fallbacks={disk=9000} highestPinnedBytes=3000";
    assertThat(live.totals().summary()).isEqualTo(summary);
    new EventPosts(live, events::add).post(0, true);
    ApplicationFigures figures = new ApplicationFigures(false);
    events.forEach(new RdmaHistoryPlugin.ReplayListener(figures)::onOtherEvent);
    assertThat(figures.takeChanges(0)).isEmpty();
    store.write(RdmaHistoryPlugin.entry(figures));
    ApplicationFigures read = RdmaHistoryPlugin.read(store);
    assertThat(read.totals().summary()).isEqualTo(summary);
    assertThat(read.snapshot().executors())
        .hasSize(ApplicationFigures.MAX_REMOVED + 1)
        .containsKeys("runs", "e1")
        .doesNotContainKey("e3000");
  }

  @Test
  void shouldNotCountExecutorsTwiceThatSparkRemovedBeforeTheEvent() {
    ApplicationFigures live = new ApplicationFigures(true);
    ApplicationFigures replayed = new ApplicationFigures(false);
    for (int i = 0; i < 3_000; i++) {
      live.report("e" + i, Map.of("state", "up", "device", "soft0", "read", 2L));
      for (ApplicationFigures one : List.of(live, replayed)) {
        one.start("e" + i, "host");
        one.addTask("e" + i, 0, 2, 5);
        one.remove("e" + i, "idle");
      }
    }
    RdmaShuffleEvent event =
        new RdmaShuffleEvent(RdmaShuffleEvent.SCHEMA, live.takeChanges(0).orElseThrow());
    new RdmaHistoryPlugin.ReplayListener(replayed).onOtherEvent(event);
    assertThat(replayed.totals().summary())
        .startsWith("readBytes=6000 copiedBytes=0 tcpBytes=0 localBytes=15000")
        .isEqualTo(live.totals().summary());
    assertThat(replayed.snapshot().executors()).hasSize(ApplicationFigures.MAX_REMOVED);
  }

  /** An event with the figures of many executors delays the next one for hours. */
  @Test
  void shouldShowSumsAfterTheLastFiguresAndTheTimesOfBoth() throws Exception {
    List<RdmaShuffleEvent> events = new ArrayList<>();
    ApplicationFigures live = new ApplicationFigures(true);
    EventPosts posts = new EventPosts(live, events::add);
    for (int i = 0; i < 1_000; i++) {
      live.start("e" + i, "host" + i);
      live.report("e" + i, Map.of("state", "up", "read", 1L, "pinned", 1L, "limit", 9L));
    }
    posts.post(10_000, false);
    live.report("e1", Map.of("read", 500L, "fallback.disk", 3L, "highest", 7L));
    live.report("e2", Map.of("state", "off", "reasons", "no device"));
    live.addTask("e3", 1, 0, 40);
    for (long nowMs = 10_000; nowMs <= 60_000; nowMs += 500) {
      posts.post(nowMs, false);
    }
    assertThat(events).as("sums have changed once").hasSize(2);
    assertThat(new ObjectMapper().writeValueAsBytes(events.get(1))).hasSizeLessThan(600);

    ApplicationFigures replayed = new ApplicationFigures(false);
    replay(events, replayed);
    store.write(RdmaHistoryPlugin.entry(replayed));
    ApplicationFigures read = RdmaHistoryPlugin.read(store);
    for (ApplicationFigures shown : List.of(replayed, read)) {
      assertThat(shown.totals().values()).isEqualTo(live.totals().values());
      assertThat(page(shown)).contains("1970-01-01T00:00:10Z in the tables, 1970-01-01T00:00:20Z");
    }
    assertThat(page(live)).doesNotContain("in the tables");

    posts.post(61_000, true);
    replay(events.subList(2, 3), read);
    read.end();
    assertThat(page(read)).doesNotContain("in the tables");
    assertThat(read.totals().values()).isEqualTo(live.totals().values());
  }

  /** As the History Server reads it. */
  private static void replay(List<RdmaShuffleEvent> events, ApplicationFigures figures)
      throws Exception {
    ObjectMapper mapper = new ObjectMapper();
    for (RdmaShuffleEvent event : events) {
      new RdmaHistoryPlugin.ReplayListener(figures)
          .onOtherEvent(mapper.readValue(mapper.writeValueAsString(event), RdmaShuffleEvent.class));
    }
  }

  private static String page(ApplicationFigures figures) {
    PageContent.SparkStage forgotten = new PageContent.SparkStage("", "", -1, "");
    return new PageContent(figures.snapshot(), figures.totals(), id -> forgotten, false).html();
  }
}
