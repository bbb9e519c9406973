// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.scheduler.ReplayListenerBus;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.util.JsonProtocol$;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.figures.Changes;
import org.sparkrdma.shuffle.figures.StageBytes;

class RdmaShuffleEventTest {
  private static final String END =
      "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":4711}";

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
  void shouldKeepTheBytesOfStagesWhereAnEarlierVersionFindsNoneOfItsProperties() {
    RdmaShuffleEvent event =
        new RdmaShuffleEvent(
            RdmaShuffleEvent.SCHEMA,
            new Changes(
                99,
                List.of("a note"),
                Map.of(),
                Map.of(),
                List.of(new StageBytes(12, 4, 5, 1L << 40, 2, 3)),
                Map.of()));
    String json = JsonProtocol$.MODULE$.sparkEventToJsonString(event);
    assertThat(json)
        .isEqualTo(
            "{\"Event\":\"org.sparkrdma.shuffle.ui.RdmaShuffleEvent\",\"schema\":1,\"timeMs\":99,"
                + "\"notes\":[\"a note\"],\"executors\":[],\"stages\":[[12,1099511627776,2,3,4,5]]}");
    RdmaShuffleEvent read = replay(json).ours.get(0);
    assertThat(read.notes()).containsExactly("a note");
    assertThat(read.stages()).isEqualTo(List.of(List.of(12L, 1L << 40, 2L, 3L, 4L, 5L)));
  }

  @Test
  void shouldReadAnEventWithoutPropertiesOrWithOthersThanExpected() {
    Replayed replayed =
        replay(
            "{\"Event\":\"org.sparkrdma.shuffle.ui.RdmaShuffleEvent\"}",
            "{\"Event\":\"org.sparkrdma.shuffle.ui.RdmaShuffleEvent\",\"schema\":{},"
                + "\"timeMs\":\"noon\",\"notes\":7,\"executors\":\"none\",\"spark\":[[1],[\"1\"]],"
                + "\"totals\":[7,[1,2],[\"read\"]]}",
            END);
    assertThat(replayed.ours).hasSize(2);
    for (RdmaShuffleEvent event : replayed.ours) {
      assertThat(event.changes.figures()).isEmpty();
      assertThat(event.changes.sparkExecutors()).isEmpty();
      assertThat(event.notes()).isEmpty();
      assertThat(event.changes.totals()).isEmpty();
      assertThat(event.timeMs()).isZero();
      assertThat(event.schema).isLessThanOrEqualTo(RdmaShuffleEvent.SCHEMA);
    }
    assertThat(replayed.ends).containsExactly(4711L);
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
