// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.scheduler.ReplayListenerBus;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.util.JsonProtocol$;
import org.junit.jupiter.api.Test;

class RdmaShuffleEventTest {
  private static final String END =
      "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":4711}";
  private static final Map<String, Map<String, Object>> FIGURES =
      new LinkedHashMap<>(Map.of("7", Map.of("engine", "soft", "read", 123L)));

  /** Events that a replay passes to listeners. */
  private static final class Replayed extends SparkListener {
    final List<RdmaShuffleEvent> ours = new ArrayList<>();
    final List<Long> ends = new ArrayList<>();

    @Override
    public void onOtherEvent(SparkListenerEvent event) {
      if (event instanceof RdmaShuffleEvent known) {
        ours.add(known);
      }
    }

    @Override
    public void onApplicationEnd(SparkListenerApplicationEnd end) {
      ends.add(end.time());
    }
  }

  @Test
  void shouldKeepItsFiguresInAnEventLog() {
    String json = json(event(99, List.of("a note"), FIGURES, List.of()));
    assertThat(json).contains("\"Event\":\"org.sparkrdma.shuffle.ui.RdmaShuffleEvent\"");
    RdmaShuffleEvent read = replay(json).ours.get(0);
    assertThat(read.figures()).isEqualTo(FIGURES);
    assertThat(read.timeMs()).isEqualTo(99);
    assertThat(read.notes()).containsExactly("a note");
    assertThat(read.hasLaterSchema()).isFalse();
  }

  @Test
  void shouldKeepTheBytesOfStagesWhereAnEarlierVersionFindsNoneOfItsProperties() {
    String json =
        json(event(99, List.of(), Map.of(), List.of(new StageBytes(12, 4, 5, 1L << 40, 2, 3))));
    assertThat(json)
        .isEqualTo(
            "{\"Event\":\"org.sparkrdma.shuffle.ui.RdmaShuffleEvent\",\"schema\":1,\"timeMs\":99,"
                + "\"notes\":[],\"executors\":[],\"stages\":[[12,1099511627776,2,3,4,5]]}");
    assertThat(replay(json).ours.get(0).stages())
        .isEqualTo(List.of(List.of(12L, 1L << 40, 2L, 3L, 4L, 5L)));
  }

  @Test
  void shouldReadWhatItKnowsOfALaterVersion() {
    RdmaShuffleEvent later =
        replay(
                "{\"Event\":\"org.sparkrdma.shuffle.ui.RdmaShuffleEvent\",\"schema\":9,"
                    + "\"timeMs\":99,\"racks\":{\"a\":[1]},\"executors\":"
                    + "[[\"7\",\"read\",1,\"flights\",[1,2],\"share\",0.5,\"odd\"],[],{\"x\":1},3]}")
            .ours
            .get(0);
    assertThat(later.hasLaterSchema()).isTrue();
    assertThat(later.figures()).isEqualTo(Map.of("7", Map.of("read", 1L, "share", 0L)));
    assertThat(later.notes()).isEmpty();
  }

  @Test
  void shouldReadAnEventWithoutPropertiesOrWithOthersThanExpected() {
    Replayed replayed =
        replay(
            "{\"Event\":\"org.sparkrdma.shuffle.ui.RdmaShuffleEvent\"}",
            "{\"Event\":\"org.sparkrdma.shuffle.ui.RdmaShuffleEvent\",\"schema\":{},"
                + "\"timeMs\":\"noon\",\"notes\":7,\"executors\":\"none\",\"spark\":[[1],[\"1\"]]}",
            END);
    assertThat(replayed.ours).hasSize(2);
    for (RdmaShuffleEvent event : replayed.ours) {
      assertThat(event.figures()).isEmpty();
      assertThat(event.sparkExecutors()).isEmpty();
      assertThat(event.notes()).isEmpty();
      assertThat(event.timeMs()).isZero();
      assertThat(event.hasLaterSchema()).isFalse();
    }
    assertThat(replayed.ends).containsExactly(4711L);
  }

  private static RdmaShuffleEvent event(
      long timeMs,
      List<String> notes,
      Map<String, Map<String, Object>> figures,
      List<StageBytes> stages) {
    return new RdmaShuffleEvent(RdmaShuffleEvent.SCHEMA, timeMs, notes, figures, Map.of(), stages);
  }

  private static String json(RdmaShuffleEvent event) {
    return JsonProtocol$.MODULE$.sparkEventToJsonString(event);
  }

  private static Replayed replay(String... lines) {
    ReplayListenerBus bus = new ReplayListenerBus();
    Replayed replayed = new Replayed();
    bus.addListener(replayed);
    byte[] log = String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
    boolean whole =
        bus.replay(
            new ByteArrayInputStream(log), "log", false, ReplayListenerBus.SELECT_ALL_FILTER());
    assertThat(whole).as("the replay reached the end").isTrue();
    return replayed;
  }
}
