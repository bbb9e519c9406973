// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ShuffleRemovalsTest {
  private final List<Integer> handedOver = new ArrayList<>();
  private final ShuffleRemovals removals = new ShuffleRemovals(this::handOver);
  private boolean fails;

  private void handOver(int shuffleId) {
    if (fails) {
      throw new OutOfMemoryError("thrown by the test");
    }
    handedOver.add(shuffleId);
  }

  @Test
  void shouldHandOverEachRemovalOnce() {
    removals.remove(3);
    removals.retry();
    assertThat(handedOver).containsExactly(3);
  }

  @Test
  void shouldRepeatAHandOverThatFailed() {
    fails = true;
    removals.remove(3);
    removals.retry();
    fails = false;
    removals.retry();
    removals.retry();
    assertThat(handedOver).containsExactly(3);
  }

  @Test
  void shouldRepeatAHandOverAtTheNextRemoval() {
    fails = true;
    removals.remove(3);
    removals.remove(4);
    fails = false;
    removals.remove(5);
    assertThat(handedOver).containsExactlyInAnyOrder(3, 4, 5);
  }

  @Test
  void shouldKeepALimitedNumberOfThem() {
    fails = true;
    IntStream.range(0, ShuffleRemovals.MAX_WAITING + 10).forEach(removals::remove);
    fails = false;
    removals.remove(1_000);
    List<Integer> expected =
        new ArrayList<>(IntStream.range(0, ShuffleRemovals.MAX_WAITING).boxed().toList());
    expected.add(1_000);
    assertThat(handedOver).containsExactlyInAnyOrderElementsOf(expected);
  }
}
