// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.memory.OpenDevice;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.device.DeviceFitness;
import org.sparkrdma.shuffle.pinned.MemoryShares;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.verbs.StubDevice;

class MessageBuffersTest {
  private static final long LIMIT = 4 << 20;

  private final StubDevice device = new StubDevice();
  private final PinnedBudget budget = new PinnedBudget(LIMIT, StubDevice.PAGE);
  private final OpenDevice open = new OpenDevice(device, device, budget, System::nanoTime);
  private final MemoryShares shares =
      MemoryShares.of(
          ShuffleSettings.defaults().transport(), new DeviceFitness(device.info()), LIMIT);

  @Test
  void shouldGiveTheBufferOfAnAnswerToTheNextOneOrToAConnection() {
    try (MessageBuffers buffers = new MessageBuffers(open, shares)) {
      RegisteredChunk first = buffers.tryTakeForAnswer();
      buffers.releaseAnswer(first);
      RegisteredChunk second = buffers.tryTakeForAnswer();
      assertThat(second).isSameAs(first);
      buffers.releaseAnswer(second);
      RegisteredChunk[] ofConnection = buffers.tryTake(1);
      assertThat(ofConnection).containsExactly(first);
      ofConnection[0].release();
    }
    assertThat(budget.pinnedBytes()).isZero();
  }

  @Test
  void shouldGiveTheBuffersOfStuckAnswersToOthers() {
    try (MessageBuffers buffers = new MessageBuffers(open, shares)) {
      List<RegisteredChunk> taken = new ArrayList<>();
      for (int i = 0; i < MemoryShares.MAX_ANSWERS; i++) {
        taken.add(buffers.tryTakeForAnswer());
      }
      buffers.addStuck(1);
      taken.add(buffers.tryTakeForAnswer());
      assertThat(taken).doesNotContainNull();
      assertThat(buffers.tryTakeForAnswer()).as("one was stuck").isNull();

      buffers.addStuck(-1);
      buffers.releaseAnswer(taken.remove(0));
      assertThat(buffers.tryTakeForAnswer()).as("none is stuck").isNull();
      taken.forEach(buffers::releaseAnswer);
    }
    assertThat(budget.pinnedBytes()).isZero();
  }

  private static void trim(MessageBuffers buffers) {
    buffers.markIdle();
    buffers.trimIdle(Integer.MAX_VALUE);
  }

  /** Those of a burst of answers, while some are still in use. */
  @Test
  void shouldDeregisterWhatWasUnusedBetweenTwoTrims() {
    try (MessageBuffers buffers = new MessageBuffers(open, shares)) {
      List<RegisteredChunk> burst = new ArrayList<>();
      for (int i = 0; i < MemoryShares.MAX_ANSWERS; i++) {
        burst.add(buffers.tryTakeForAnswer());
      }
      assertThat(buffers.tryTakeForAnswer()).as("more than all may have").isNull();
      RegisteredChunk lasting = burst.remove(0);
      burst.forEach(buffers::releaseAnswer);
      trim(buffers);
      assertThat(device.regionCount()).as("used since the trim before").isEqualTo(8);
      buffers.markIdle();
      buffers.trimIdle(3);
      assertThat(device.regionCount()).as("few at once").isEqualTo(5);
      buffers.trimIdle(Integer.MAX_VALUE);
      assertThat(device.regionCount()).isEqualTo(1);
      buffers.releaseAnswer(lasting);
      trim(buffers);
      trim(buffers);
      assertThat(device.regionCount()).isZero();
    }
  }
}
