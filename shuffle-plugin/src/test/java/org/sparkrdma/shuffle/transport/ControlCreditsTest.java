// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.Counter;

/** Control buffers of connections: few when idle, more under load. */
@Timeout(60)
class ControlCreditsTest extends TransportFixture {
  private static final int MAPS = 8;
  private static final int IDLE_BUFFERS = 2;
  private static final int MAX_LOCATES = 4;
  private static final int BLOCK_BYTES = 1_000;
  private static final int ROUNDS = 50;

  /** Blocks: a message of 16 KiB holds 511. */
  private static final int MORE_THAN_A_LOCATE = 600;

  /** Pinned memory in which control buffers have no room for credits beside their reserve. */
  private static final long SHORT_BYTES = 1 << 20;

  /**
   * A pause of this JVM must not count as an overload: a garbage collection took 1.1 s in a guest.
   */
  private static final Duration LONG = Duration.ofSeconds(50);

  /** Buffers that connections of the executor hold: all but those of the reserve. */
  private static int buffers(TestExecutor executor) {
    return executor.transport().memory.controlPool.chunksOut() - ControlBuffers.RESERVE;
  }

  private static void await(String what, BooleanSupplier condition) {
    for (int i = 0; i < 10_000 && !condition.getAsBoolean(); i++) {
      LockSupport.parkNanos(1_000_000);
    }
    assertThat(condition.getAsBoolean()).as(what).isTrue();
  }

  private static CollectedBlocks fetch(TestExecutor reader, TestExecutor server, long map) {
    List<BlockRange> blocks = List.of(new BlockRange(0, map, 0, 1));
    CollectedBlocks collected = new CollectedBlocks(blocks);
    FetchHandler.fetch(reader.transport(), server.endpoint(), blocks, collected);
    return collected;
  }

  @Test
  void shouldGrowUnderLoadAndShrinkWhenIdle() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1));
    TestExecutor server = start(new TestExecutor.Options(2));
    for (int map = 0; map < MAPS; map++) {
      server.outputs().write(map, new Random(map), BLOCK_BYTES);
    }
    fetch(reader, server, 0).await();
    for (TestExecutor executor : executors) {
      await("idle", () -> buffers(executor) == IDLE_BUFFERS);
    }
    for (int round = 0; round < 2; round++) {
      growOnce(reader, server, MAPS - 1 - round);
      for (TestExecutor executor : executors) {
        await("idle again", () -> buffers(executor) == IDLE_BUFFERS);
      }
    }
    assertThat(reader.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
    assertThat(server.count(Counter.PROTOCOL_ERRORS)).isZero();
  }

  /** Others are read while one request waits for a disk, although it uses the only credit. */
  private static void growOnce(TestExecutor reader, TestExecutor server, int slowMap)
      throws Exception {
    CountDownLatch goOn = server.outputs().blockUntil(slowMap);
    CollectedBlocks slow;
    try {
      slow = fetch(reader, server, slowMap);
      // The disk holds the request: its receive and its answer.
      await("one request", () -> buffers(server) == IDLE_BUFFERS + 1);
      for (int map = 0; map < MAPS / 2; map++) {
        assertThat(fetch(reader, server, map).await().bytes(0)).hasSize(BLOCK_BYTES);
      }
    } finally {
      goOn.countDown();
    }
    assertThat(slow.await().bytes(0)).hasSize(BLOCK_BYTES);
    await("all credits granted", () -> buffers(server) == MAX_LOCATES + 1);
  }

  @Test
  void shouldReadWithoutFurtherCreditsInBothDirectionsWhenMemoryIsShort() throws Exception {
    TestExecutor one = start(shortOfMemory(1));
    TestExecutor other = start(shortOfMemory(2));
    for (int map = 0; map < MAPS; map++) {
      one.outputs().write(map, new Random(map), BLOCK_BYTES);
      other.outputs().write(map, new Random(map), BLOCK_BYTES);
    }
    for (int round = 0; round < ROUNDS; round++) {
      List<CollectedBlocks> fetches = new ArrayList<>();
      for (int map = 0; map < MAPS; map++) {
        fetches.add(fetch(one, other, map));
        fetches.add(fetch(other, one, map));
      }
      for (CollectedBlocks collected : fetches) {
        assertThat(collected.await().bytes(0)).hasSize(BLOCK_BYTES);
      }
    }
    for (TestExecutor executor : executors) {
      await("no credits granted", () -> buffers(executor) == IDLE_BUFFERS);
      assertThat(executor.count(Counter.PROTOCOL_ERRORS)).isZero();
    }
  }

  private static TestExecutor.Options shortOfMemory(long incarnation) {
    return new TestExecutor.Options(incarnation)
        .pinned(SHORT_BYTES, SHORT_BYTES / 2)
        .requestTimeout(LONG)
        .lease(LONG.multipliedBy(2));
  }

  @Test
  void shouldReceiveAllMessagesThatFollowAConfirm() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1));
    TestExecutor server = start(new TestExecutor.Options(2));
    int[] lengths = new int[MORE_THAN_A_LOCATE];
    Arrays.fill(lengths, 100);
    server.outputs().write(0, new Random(0), lengths);
    List<BlockRange> blocks = new ArrayList<>();
    for (int i = 0; i < lengths.length; i++) {
      blocks.add(new BlockRange(0, 0, i, i + 1));
    }
    // CONFIRM, LOCATE, and the RELEASE that asks for a credit for the rest.
    CollectedBlocks collected = new CollectedBlocks(blocks);
    FetchHandler.fetch(reader.transport(), server.endpoint(), blocks, collected);
    collected.await();
    for (int i = 0; i < lengths.length; i++) {
      assertThat(collected.bytes(i)).hasSize(100);
    }
    assertThat(reader.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isZero();
  }
}
