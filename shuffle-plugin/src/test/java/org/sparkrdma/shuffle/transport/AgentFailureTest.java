// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/** An Error on the agent's thread, when it reads the clock for the first, second, ... time. */
@Timeout(60)
class AgentFailureTest extends TransportFixture {
  private static final int CHECKS = 10;
  private static final int UNARMED = Integer.MAX_VALUE;

  private final AtomicInteger looksLeft = new AtomicInteger(UNARMED);

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5, 8, 13, 50})
  void shouldAnswerEveryBlockAndReportTheFailure(int looks) throws Exception {
    LongSupplier clock =
        () -> {
          if (Thread.currentThread().getName().startsWith("rdma-agent")
              && looksLeft.get() != UNARMED
              && looksLeft.decrementAndGet() == 0) {
            throw new IllegalStateException("thrown by the test");
          }
          return System.nanoTime();
        };
    TestExecutor reader = start(new TestExecutor.Options(1).nanoClock(clock));
    TestExecutor server = start(2);
    server.outputs().write(1, new Random(1), 100, 200, 300, 400);
    List<BlockRange> blocks = IntStream.range(0, 4).mapToObj(i -> block(1, i, i + 1)).toList();
    looksLeft.set(looks);
    fetch(reader, server, blocks);
    // The failure may be reported after the answers, with a tick.
    while (reader.losses().isEmpty()) {
      Thread.onSpinWait();
    }
    assertThat(reader.losses().get(0))
        .contains("failed", "IllegalStateException: thrown by the test");

    CollectedBlocks later = fetch(reader, server, blocks);
    assertThat(IntStream.range(0, 4).mapToObj(later::reason)).containsOnly(FallbackReason.STOPPED);
  }

  /** Spark's handler of uncaught Errors ends the executor. */
  @Test
  void shouldLeaveAFatalErrorUncaught() throws Exception {
    Error fatal = new OutOfMemoryError("thrown by the test");
    LongSupplier clock =
        () -> {
          if (Thread.currentThread().getName().startsWith("rdma-agent")
              && looksLeft.compareAndSet(1, UNARMED)) {
            throw fatal;
          }
          return System.nanoTime();
        };
    CompletableFuture<Throwable> uncaught = new CompletableFuture<>();
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler((thread, e) -> uncaught.complete(e));
    try {
      TestExecutor executor = start(new TestExecutor.Options(1).nanoClock(clock));
      looksLeft.set(1);
      assertThat(uncaught.get(30, TimeUnit.SECONDS)).isSameAs(fatal);
      assertThat(executor.losses()).as("the executor ends").isEmpty();
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
  }

  /** The clock of the agent stands for a call of the device that does not return. */
  @Test
  void shouldAnswerEveryBlockAndReportTheLossWhenTheAgentHangs() throws Exception {
    HangingClock clock = new HangingClock();
    TestExecutor.Options options =
        new TestExecutor.Options(1).nanoClock(clock).requestTimeout(Duration.ofSeconds(CHECKS));
    TestExecutor reader = start(options);
    TestExecutor server = start(2);
    server.outputs().write(1, new Random(1), 100);
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    assertThat(fetch(reader, server, blocks).bytes(0)).hasSize(100);

    clock.arm();
    clock.awaitHang();
    CollectedBlocks open = reader.fetch(server.endpoint(), blocks);
    // The first check sees the last iterations.
    for (int check = 0; check < CHECKS; check++) {
      reader.transport().check();
      assertThat(reader.losses()).isEmpty();
    }
    reader.transport().check();
    assertThat(open.await().reason(0)).isEqualTo(FallbackReason.STOPPED);
    assertThat(reader.losses()).singleElement().asString().contains("hangs");

    assertThat(fetch(reader, server, blocks).reason(0)).isEqualTo(FallbackReason.STOPPED);
    clock.end();
  }

  /** Such a call may last for 20 s: blocks do not wait for its end, and use RDMA after it. */
  @Test
  void shouldLeaveBlocksToTcpWhileTheAgentIsInACallOfTheDevice() throws Exception {
    HangingClock clock = new HangingClock();
    TestExecutor.Options options =
        new TestExecutor.Options(1).nanoClock(clock).requestTimeout(Duration.ofSeconds(CHECKS));
    TestExecutor reader = start(options);
    TestExecutor server = start(2);
    server.outputs().write(1, new Random(1), 100, 200);
    List<BlockRange> blocks = List.of(block(1, 0, 1), block(1, 1, 2));
    assertThat(fetch(reader, server, blocks).bytes(1)).hasSize(200);

    clock.arm();
    clock.awaitHang();
    CollectedBlocks open = reader.fetch(server.endpoint(), blocks);
    CollectedBlocks behind = reader.fetch(server.endpoint(), blocks);
    CollectedBlocks queued = reader.fetch(server.endpoint(), blocks);
    int checks = 0;
    while (open.answered() == 0) {
      reader.transport().check();
      checks++;
    }
    assertThat(checks).as("three, unless the machine delays one").isLessThan(CHECKS);
    for (CollectedBlocks each : List.of(open, behind, queued, fetch(reader, server, blocks))) {
      assertThat(each.await().reasons()).containsOnlyKeys(FallbackReason.STOPPED.label());
    }
    assertThat(reader.losses()).isEmpty();

    long turns = reader.transport().built().agent.turns();
    clock.end();
    while (reader.transport().built().agent.turns() == turns) {
      Thread.onSpinWait();
    }
    assertRight(server, blocks, fetch(reader, server, blocks));
    // What was located before is read, too, and dropped.
    for (CollectedBlocks each : List.of(open, behind, queued)) {
      each.await();
    }
    assertThat(reader.count(Counter.RDMA_BLOCKS_READ)).isEqualTo(2L * blocks.size());
  }

  /** The checks come late, too, and the agent has not had its turn yet. */
  @Test
  void shouldNotTakeAPauseOfTheProcessForACallOfTheDevice() throws Exception {
    HangingClock clock = new HangingClock();
    TestExecutor.Options options =
        new TestExecutor.Options(1).nanoClock(clock).requestTimeout(Duration.ofSeconds(CHECKS));
    TestExecutor reader = start(options);
    TestExecutor server = start(2);
    server.outputs().write(1, new Random(1), 100);
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    assertThat(fetch(reader, server, blocks).bytes(0)).hasSize(100);

    clock.arm();
    clock.awaitHang();
    CollectedBlocks open = reader.fetch(server.endpoint(), blocks);
    for (int pause = 0; pause < 2; pause++) {
      clock.pass(Duration.ofSeconds(3));
      reader.transport().check();
      reader.transport().check();
    }
    clock.end();
    assertThat(open.await().bytes(0)).hasSize(100);
  }

  /**
   * The clock of the agent stands for a call of the device, such as the last of many that are slow.
   */
  @Test
  void shouldGoOnWithACloseWhenTheCallOfTheDeviceHasReturned() throws Exception {
    HangingClock clock = new HangingClock();
    TestExecutor executor = start(new TestExecutor.Options(1).nanoClock(clock));
    clock.arm();
    clock.awaitHang();
    assertThatThrownBy(() -> executor.transport().close(Duration.ofMillis(1)))
        .hasMessageContaining("the transport agent has not ended");
    clock.end();

    executor.transport().close(Duration.ofMinutes(1));
  }

  /** A clock that does not return to the agent between two calls of the test. */
  private static final class HangingClock implements LongSupplier {
    private final AtomicBoolean armed = new AtomicBoolean();
    private final CountDownLatch hangs = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private final AtomicLong passedNs = new AtomicLong();

    @Override
    public long getAsLong() {
      if (armed.get() && Thread.currentThread().getName().startsWith("rdma-agent")) {
        hangs.countDown();
        awaitUninterruptibly(end);
      }
      return System.nanoTime() + passedNs.get();
    }

    void pass(Duration time) {
      passedNs.addAndGet(time.toNanos());
    }

    void arm() {
      armed.set(true);
    }

    void awaitHang() throws InterruptedException {
      hangs.await();
    }

    void end() {
      armed.set(false);
      end.countDown();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
      boolean ended = false;
      while (!ended) {
        try {
          latch.await();
          ended = true;
        } catch (InterruptedException e) {
          // A call of the device ignores it, too.
          ended = latch.getCount() == 0;
        }
      }
    }
  }
}
