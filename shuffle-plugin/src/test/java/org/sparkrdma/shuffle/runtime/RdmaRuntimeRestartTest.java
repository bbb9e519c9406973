// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.runtime.RuntimeStatus.State;
import org.sparkrdma.shuffle.thread.ThreadShortageException;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.PortState;

/** The first start fails, or the device is lost while a runtime uses it; and later starts. */
@Tag("slow")
class RdmaRuntimeRestartTest extends RuntimeFixture {
  /** As when the system's limit of threads is reached. */
  private static final Thread REFUSED =
      new Thread("rdma-delivery-2") {
        @Override
        public synchronized void start() {
          throw new OutOfMemoryError("unable to create native thread");
        }
      };

  @BeforeEach
  void startSoonAfterALoss() {
    firstRestart = Duration.ofMillis(1);
  }

  /** A device may destroy many queue pairs slowly at the loss, or a disk may hang. */
  @Test
  void shouldStartAgainWhenAPartThatDidNotCloseHasClosed() {
    int failures = 3;
    try (CapturedLog log = new CapturedLog()) {
      AtomicInteger starts = new AtomicInteger();
      AtomicInteger closes = new AtomicInteger();
      List<Integer> startsAtClose = new CopyOnWriteArrayList<>();
      CompletableFuture<Consumer<String>> onLost = new CompletableFuture<>();
      RdmaRuntime runtime =
          startedOn(
              parts -> {
                starts.incrementAndGet();
                onLost.complete(parts.onLost());
                return engine.transport(
                    () -> {
                      startsAtClose.add(starts.get());
                      if (closes.incrementAndGet() <= failures) {
                        throw new IllegalStateException("thrown by the test");
                      }
                      engine.close("transport");
                    });
              });
      onLost.join().accept("the port is down");
      engine.awaitClosed("engine");
      awaitState(runtime, State.UP);
      runtime.require(WAIT);
      assertThat(starts).hasValue(2);
      assertThat(startsAtClose).as("no start before the last close").containsExactly(1, 1, 1, 1);
      assertThat(engine.closed()).containsExactly("transport", "device", "engine");
      assertThat(log.warnings()).hasSize(1 + failures).first().asString().contains("port is down");
      assertThat(log.warnings().subList(1, 1 + failures))
          .allMatch(line -> line.startsWith("Cannot close RDMA part=transport; RDMA stays off"));
      runtime.close();
    }
  }

  @Test
  void shouldEndForGoodWhenAMethodOfSparkIsMissing() {
    LosableTransport transport = new LosableTransport(engine);
    RdmaRuntime runtime = startedOn(transport);
    try (CapturedLog log = new CapturedLog()) {
      assertThat(missing.take(new NoSuchMethodError("gone"))).isTrue();
      assertThat(missing.take(new NoSuchMethodError("gone too"))).isTrue();
      engine.awaitClosed("engine");
      assertThat(runtime.mayFetch()).isFalse();
      transport.lose(1, "the device was removed");
      runtime.close();
      assertThat(log.warnings())
          .singleElement()
          .asString()
          .startsWith("RDMA is not used in this executor, its shuffle reads use TCP: Spark 4")
          .contains("gone")
          .doesNotContain("too");
    }
    assertThat(transport.starts()).isOne();
  }

  @Test
  void shouldStartAgainWhileTasksHoldReceivedMemory() throws InterruptedException {
    List<PinnedBudget.Grant> held = new CopyOnWriteArrayList<>();
    LosableTransport transport =
        new LosableTransport(
            engine, (number, parts) -> held.add(parts.budget().tryGrant(4096).orElseThrow()));
    RdmaRuntime runtime = startedOn(transport);
    transport.lose(1, "the device was removed");
    transport.awaitStarts(2);
    runtime.require(WAIT);
    // A late report about the first device.
    transport.lose(1, "the device was removed");
    runtime.require(WAIT);
    assertThat(engine.closed()).containsExactly("transport", "device", "engine");
    runtime.close();
    assertThat(held).hasSize(2);
    held.forEach(PinnedBudget.Grant::close);
  }

  @Test
  void shouldWaitForADeviceThatComesBackInsteadOfFailingTheTask() throws InterruptedException {
    CountDownLatch asked = new CountDownLatch(1);
    LosableTransport transport =
        new LosableTransport(
            engine,
            (number, parts) -> {
              if (number == 2) {
                awaitDespiteInterrupts(asked);
              }
            });
    RdmaRuntime runtime = startedOn(transport);
    transport.lose(1, "the device was removed");
    transport.awaitStarts(2);
    assertThatThrownBy(() -> runtime.require(Duration.ofMillis(1)))
        .hasMessageContaining("the device was removed");
    asked.countDown();
    runtime.require(WAIT);
    runtime.close();
  }

  @Test
  void shouldWaitLongerWhenRdmaIsLostSoonAfterEachStart() throws InterruptedException {
    firstRestart = Duration.ofMillis(50);
    LosableTransport transport = new LosableTransport(engine);
    RdmaRuntime runtime = startedOn(transport);
    long startNs = System.nanoTime();
    for (int loss = 1; loss <= 4; loss++) {
      transport.awaitStarts(loss);
      runtime.require(WAIT);
      transport.lose(loss, "the port is down");
    }
    transport.awaitStarts(5);
    assertThat(Duration.ofNanos(System.nanoTime() - startNs))
        .isGreaterThanOrEqualTo(Duration.ofMillis(50 + 100 + 200 + 400));
    runtime.close();
  }

  /** The transport reports it as a loss when it hangs, so that blocks do not wait for ever. */
  @Test
  void shouldCheckTheTransportUntilItHangs() {
    AtomicInteger checks = new AtomicInteger();
    RdmaRuntime runtime =
        startedOn(
            parts ->
                engine.transport(
                    () -> {
                      if (checks.incrementAndGet() == 1) {
                        throw new IllegalStateException("thrown by the test");
                      }
                      parts.onLost().accept("it hangs");
                    },
                    () -> engine.close("transport")));
    engine.awaitClosed("engine");
    assertThat(checks.get()).isGreaterThanOrEqualTo(2);
    awaitState(runtime, State.UP);
    runtime.close();
  }

  @Test
  void shouldEndARestartWhenClosed() throws InterruptedException {
    CountDownLatch never = new CountDownLatch(1);
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    LosableTransport transport =
        new LosableTransport(
            engine,
            (number, parts) -> {
              if (number == 2) {
                try {
                  never.await();
                } catch (InterruptedException e) {
                  interrupted.complete(true);
                  throw new VerbsException("listen", "interrupted");
                }
              }
            });
    RdmaRuntime runtime = startedOn(transport);
    transport.lose(1, "the device was removed");
    transport.awaitStarts(2);
    runtime.close();
    assertThat(interrupted).as("without the wait of a close for a start").isCompleted();
    assertThat(engine.closed())
        .as("what the second start had opened as well")
        .containsExactly("transport", "device", "engine", "device", "engine");
    never.countDown();
  }

  @Test
  void shouldStartAgainWhenTheTransportFailsBeforeTheFirstStartIsOver()
      throws InterruptedException {
    LosableTransport transport =
        new LosableTransport(
            engine,
            (number, parts) -> {
              if (number < 3) {
                parts.onLost().accept("the device was removed");
              }
            });
    RdmaRuntime runtime = runtime(engine, transport);
    runtime.start();
    transport.awaitStarts(3);
    awaitState(runtime, State.UP);
    assertThat(transport.starts()).isEqualTo(3);
    assertThat(runtime.mayFetch()).isTrue();
    runtime.close();
  }

  /** The first start fails, a later one succeeds, and one warning names the reason. */
  private static void assertStartsLater(RdmaRuntime runtime, String reason) {
    try (CapturedLog log = new CapturedLog()) {
      runtime.start();
      awaitState(runtime, State.UP);
      runtime.require(WAIT);
      assertThat(log.warnings())
          .singleElement()
          .asString()
          .contains("until it can be started", reason);
    }
    runtime.close();
  }

  static List<Throwable> unexpected() {
    return List.of(
        new IllegalStateException("thrown by the test"),
        new NoClassDefFoundError("thrown by the test"));
  }

  @ParameterizedTest
  @MethodSource("unexpected")
  void shouldNotStartAgainAfterAnUnexpectedFailure(Throwable failure) {
    LosableTransport transport =
        new LosableTransport(
            engine,
            (number, parts) -> {
              if (failure instanceof Error error) {
                throw error;
              }
              throw (RuntimeException) failure;
            });
    try (CapturedLog log = new CapturedLog()) {
      RdmaRuntime runtime = runtime(engine, transport);
      runtime.start();
      assertThatThrownBy(() -> runtime.require(WAIT)).hasMessageContaining("thrown by the test");
      assertThat(log.warnings())
          .as("no later start follows")
          .anyMatch(
              line ->
                  line.contains("its shuffle reads use TCP") && line.contains(failure.toString()))
          .noneMatch(line -> line.contains("until it can be started"));
      runtime.close();
    }
    assertThat(transport.starts()).isEqualTo(1);
  }

  /** A thread of the transport or of the engine, or memory beside the heap. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "cannot start the thread rdma-delivery-2",
        "unable to create native thread",
        "Cannot reserve 8192 bytes of direct buffer memory (allocated: 1, limit: 2)",
        "no native memory: lengthBytes=8192"
      })
  void shouldStartLaterWhenTheSystemRefusesAThreadOrMemoryAtTheFirstStart(String message) {
    AtomicInteger starts = new AtomicInteger();
    RdmaRuntime runtime =
        runtime(
            engine,
            parts -> {
              if (starts.incrementAndGet() > 1) {
                return engine.transport();
              }
              if (message.startsWith("cannot start")) {
                ThreadShortageException.start(REFUSED);
              } else if (message.startsWith("unable")) {
                REFUSED.start();
              }
              throw new OutOfMemoryError(message);
            });
    assertStartsLater(runtime, message);
    assertThat(starts).hasValue(2);
    assertThat(engine.closed())
        .containsExactly("device", "engine", "transport", "device", "engine");
  }

  @Test
  void shouldNotDelayTasksWhileAnInactivePortMayStillBecomeActive() throws Exception {
    firstRestart = Duration.ofHours(1);
    FakeEngine down = new FakeEngine(PortState.DOWN);
    RdmaRuntime runtime = runtime(down, parts -> down.transport());
    runtime.start();
    awaitState(runtime, State.RESTARTING);
    try (CapturedLog log = CapturedLog.fromDebug(RdmaRuntime.class.getName())) {
      runtime.awaitPublished();
      assertThat(log.warnings()).as("a wait until its limit").isEmpty();
    }
    assertThat(runtime.mayFetch()).isFalse();
    runtime.close();
  }
}
