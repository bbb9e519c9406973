// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Registered memory of control messages of many connections, in virtual time. */
@Timeout(60)
class ControlMemoryTest {
  private static final int IDLE_BUFFERS = 2;
  private static final long MAX_IDLE_BYTES = 40 << 10;

  /**
   * On a card, also the rings of its queue pair, in whole pages, and its share of a completion
   * queue.
   */
  private static final long CARD_IDLE_BYTES = 76 << 10;

  private ScriptedReader scripted;

  @AfterEach
  void close() {
    scripted.close();
  }

  @Test
  void shouldHoldAtMostFortyKibibytesForEachOfThousandIdleConnections() throws Exception {
    scripted = new ScriptedReader(1 << 20, 1_000);
    scripted.step();
    long before = scripted.memory().pinnedBytes();
    scripted.connectIdle(1_000);
    assertThat(scripted.memory().pinnedBytes() - before)
        .isLessThanOrEqualTo(1_000 * MAX_IDLE_BYTES);
    assertThat(scripted.memory().controlBytesHeld()).isEqualTo(1_001L * IDLE_BUFFERS * (16 << 10));
  }

  /** The count of rings is that of {@link CompletionQueues}; 64 connections share one queue. */
  @Test
  void shouldHoldSeventySixKibibytesForEachIdleConnectionOnACard() throws Exception {
    scripted = ScriptedReader.onCard();
    scripted.step();
    scripted.connectIdle(63);
    long before = scripted.memory().pinnedBytes();
    scripted.connectIdle(512);
    assertThat((scripted.memory().pinnedBytes() - before) / 512).isEqualTo(CARD_IDLE_BYTES);
  }

  @Test
  void shouldDeregisterControlBuffersWhenTheLoadEnds() throws Exception {
    int connections = 300;
    int loadBuffers = 6;
    scripted = new ScriptedReader(1 << 20, 1_000);
    scripted.run(1);
    List<ConnectionBuffers> all = new ArrayList<>();
    List<ArrayDeque<ControlBuffer>> receives = new ArrayList<>();
    for (int i = 0; i < connections; i++) {
      all.add(new ConnectionBuffers(scripted.memory().control()));
      receives.add(new ArrayDeque<>());
    }
    takeReceives(all, receives, IDLE_BUFFERS);
    long idleBytes = scripted.memory().pinnedBytes();
    takeReceives(all, receives, loadBuffers);
    assertThat(scripted.memory().pinnedBytes()).as("under load").isGreaterThan(2 * idleBytes);
    Random random = new Random(7);
    for (int i = 0; i < connections; i++) {
      // Receives complete in order, and each connection has handled other messages last.
      for (int messages = random.nextInt(loadBuffers); messages > 0; messages--) {
        receives.get(i).add(receives.get(i).remove());
      }
      while (receives.get(i).size() > IDLE_BUFFERS) {
        all.get(i).release(receives.get(i).remove());
      }
    }
    long trimmed = 0;
    for (int tick = 0; tick < 600; tick++) {
      long before = scripted.memory().pinnedBytes();
      scripted.giveTurns(Duration.ofMillis(5));
      trimmed = Math.max(trimmed, before - scripted.memory().pinnedBytes());
    }
    assertThat(scripted.memory().pinnedBytes())
        .as("after 3 s")
        .isLessThanOrEqualTo(idleBytes * 11 / 10);
    assertThat(trimmed).as("at a tick").isEqualTo(ControlBuffers.MAX_TRIMMED * (16 << 10));
    all.forEach(ConnectionBuffers::close);
  }

  private static void takeReceives(
      List<ConnectionBuffers> all, List<ArrayDeque<ControlBuffer>> receives, int upTo) {
    while (receives.get(0).size() < upTo) {
      for (int i = 0; i < all.size(); i++) {
        receives.get(i).add(all.get(i).tryTake().orElseThrow());
      }
    }
  }
}
