// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.fetch.FetchRequest;

/**
 * One executor stays while 2,000 others come and go. Each of these serves it a block and reads a
 * block from it. In virtual time.
 */
@Tag("slow")
@Timeout(300)
class ComeAndGoTest extends VirtualFixture {
  private static final int WAVES = 5;
  private static final int EXECUTORS_PER_WAVE = 400;
  private static final int BLOCK_BYTES = 64 << 10;

  /**
   * Longer than the idle time-out of a minute and the memory of a fault, after which no state of a
   * peer is kept.
   */
  private static final long FORGOTTEN_NS = 140_000 * MS;

  private VirtualExecutor lasting;
  private VirtualExecutor guest;
  private int guests;

  /** The state after a wave, when all its executors are gone. */
  private record State(long objects, long steps) {}

  @BeforeEach
  void start() throws Exception {
    lasting = fabric.start(BLOCK_BYTES, "pinned.max", "16m", "connections.max", "64");
  }

  @Test
  void shouldNeedNoMoreMemoryAndStepsAfterThousandsOfExecutors() throws Exception {
    List<State> states = new ArrayList<>();
    for (int wave = 0; wave < WAVES; wave++) {
      long steps = lasting.workDone;
      for (int i = 0; i < EXECUTORS_PER_WAVE; i++) {
        comeAndGo();
      }
      assertThat(lasting.connections()).as("to two guests").isBetween(1, 4);
      fabric.end(guest);
      guest = null;
      fabric.run(FORGOTTEN_NS);
      assertThat(lasting.connections()).isZero();
      states.add(new State(lasting.objects(), lasting.workDone - steps));
    }
    State first = states.get(0);
    for (State later : states) {
      // Buffers and windows of the last executors may still be registered.
      assertThat(later.objects())
          .as("memory: %s", states)
          .isLessThan(first.objects() + EXECUTORS_PER_WAVE / 10);
      assertThat((double) later.steps())
          .as("steps of the agent: %s", states)
          .isBetween(0.98 * first.steps(), 1.02 * first.steps());
    }
  }

  @Test
  void shouldKeepNothingOfFetchesThatHaveEnded() throws Exception {
    comeAndGo();
    comeAndGo();
    assertThat(new ObjectWalk().from(lasting.transport()))
        .hasAtLeastOneElementOfType(FetchConnection.class)
        .doesNotHaveAnyElementsOfTypes(FetchRequest.class);
  }

  /** A guest comes, and the one before it goes. */
  private void comeAndGo() throws Exception {
    VirtualExecutor before = guest;
    guest = fabric.start(BLOCK_BYTES, "pinned.max", "16m");
    boolean first = ++guests % 2 == 0;
    assertReads(first ? lasting : guest, (first ? guest : lasting).endpoint());
    assertReads(first ? guest : lasting, (first ? lasting : guest).endpoint());
    if (before != null) {
      fabric.end(before);
    }
    fabric.run(100 * MS);
  }
}
