// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.spark.SparkEnv;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.directory.ScriptedDriver;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.fetch.SuspectBlock;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.runtime.RuntimeLifecycle.State;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.thread.RefusingThreads;
import org.sparkrdma.shuffle.thread.ThreadShortageException;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.PortState;

/** The loss of the device while a runtime uses it, and later starts. */
class RdmaRuntimeRestartTest extends RuntimeFixture {
  @Test
  void shouldTurnOffAndCloseTheDeviceWhenItIsRemoved() {
    try (CapturedLog log = new CapturedLog()) {
      LosableTransport transport = new LosableTransport(engine);
      RdmaRuntime runtime = startedOn(transport);
      transport.lose(1, "the device was removed");
      transport.lose(1, "the device was removed");
      engine.awaitClosed("engine");
      assertThat(runtime.state()).isEqualTo(State.OFF);
      assertThat(runtime.mayFetch()).isFalse();
      assertThat(log.warnings()).singleElement().asString().contains("the device was removed");
      runtime.close();
      assertThat(engine.closed()).containsExactly("transport", "device", "engine");
    }
  }

  @Test
  void shouldComeBackWhenTheDeviceDoes() throws InterruptedException {
    firstRestart = Duration.ofMillis(1);
    LosableTransport transport =
        new LosableTransport(
            engine,
            (number, parts) -> {
              if (number == 2) {
                throw new VerbsException("listen", "the port is down");
              }
              if (number == 3) {
                parts.outOfService().accept("the port is down again");
              }
            });
    RdmaRuntime runtime = startedOn(transport);
    transport.lose(1, "the device was removed");
    transport.awaitStarts(4);
    runtime.require(WAIT);
    // A late report about the first device.
    transport.lose(1, "the device was removed");
    runtime.require(WAIT);
    assertThat(runtime.mayFetch()).isTrue();
    assertThat(engine.closed())
        .containsExactly(
            "transport", "device", "engine", "device", "engine", "transport", "device", "engine");
    runtime.close();
    assertThat(engine.closed()).endsWith("transport", "device", "engine").hasSize(11);
  }

  @Test
  void shouldComeBackWhenTheSystemAllowsNoMoreThreads() throws InterruptedException {
    firstRestart = Duration.ofMillis(1);
    RefusingThreads refusing = new RefusingThreads(1);
    threads = refusing;
    LosableTransport transport = new LosableTransport(engine);
    RdmaRuntime runtime = startedOn(transport);
    for (int loss = 1; loss <= 3; loss++) {
      transport.lose(loss, "the device was removed");
      transport.awaitStarts(loss + 1);
      runtime.require(WAIT);
    }
    assertThat(refusing.created()).isEqualTo(1);
    runtime.close();
    assertThat(engine.closed()).endsWith("transport", "device", "engine").hasSize(12);
  }

  /** A device may destroy many queue pairs slowly at the loss, or a disk may hang. */
  @Test
  void shouldStartAgainWhenAPartThatDidNotCloseHasClosed() {
    int failures = 3;
    try (CapturedLog log = new CapturedLog()) {
      firstRestart = Duration.ofMillis(1);
      AtomicInteger starts = new AtomicInteger();
      AtomicInteger closes = new AtomicInteger();
      List<Integer> startsAtClose = new CopyOnWriteArrayList<>();
      CompletableFuture<Consumer<String>> outOfService = new CompletableFuture<>();
      RdmaRuntime runtime =
          startedOn(
              parts -> {
                starts.incrementAndGet();
                outOfService.complete(parts.outOfService());
                return engine.transport(
                    () -> {
                      startsAtClose.add(starts.get());
                      if (closes.incrementAndGet() <= failures) {
                        throw new IllegalStateException("thrown by the test");
                      }
                      engine.close("transport");
                    });
              });
      outOfService.join().accept("the port is down");
      engine.awaitClosed("engine");
      awaitState(runtime, State.UP);
      runtime.require(WAIT);
      assertThat(starts).hasValue(2);
      assertThat(startsAtClose).as("no start before the last close").containsExactly(1, 1, 1, 1);
      assertThat(engine.closed()).containsExactly("transport", "device", "engine");
      assertThat(log.warnings())
          .as("each once")
          .satisfiesExactly(
              line -> assertThat(line).contains("the port is down"),
              line -> assertThat(line).startsWith("Cannot close RDMA part=transport"),
              line -> assertThat(line).contains("off in this executor until it is closed"));
      runtime.close();
    }
  }

  @Test
  void shouldNotStartAgainWhenAPartDoesNotClose() throws Exception {
    try (CapturedLog log = new CapturedLog()) {
      firstRestart = Duration.ofMillis(1);
      AtomicInteger starts = new AtomicInteger();
      CompletableFuture<Consumer<String>> outOfService = new CompletableFuture<>();
      RdmaRuntime runtime =
          startedOn(
              parts -> {
                starts.incrementAndGet();
                outOfService.complete(parts.outOfService());
                return engine.transport(
                    () -> {
                      throw new OutOfMemoryError("unable to create native thread");
                    });
              });
      outOfService.join().accept("the device was removed");
      assertThat(log.awaitWarnings(3).get(2)).startsWith("RDMA stays off in this executor");
      assertThatThrownBy(() -> runtime.require(Duration.ofMillis(1)))
          .hasMessageContaining("the device was removed");
      runtime.close();
      assertThat(starts).hasValue(1);
      assertThat(engine.closed()).isEmpty();
    }
  }

  @Test
  void shouldStartAgainWhileTasksHoldReceivedMemory() throws InterruptedException {
    List<PinnedBudget.Grant> held = new CopyOnWriteArrayList<>();
    firstRestart = Duration.ofMillis(1);
    LosableTransport transport =
        new LosableTransport(
            engine, (number, parts) -> held.add(parts.budget().tryGrant(4096).orElseThrow()));
    RdmaRuntime runtime = startedOn(transport);
    transport.lose(1, "the device was removed");
    transport.awaitStarts(2);
    runtime.require(WAIT);
    assertThat(engine.closed()).containsExactly("transport", "device", "engine");
    runtime.close();
    assertThat(held).hasSize(2);
    held.forEach(PinnedBudget.Grant::close);
  }

  @Test
  void shouldWaitForADeviceThatComesBackInsteadOfFailingTheTask() {
    CountDownLatch asked = new CountDownLatch(1);
    firstRestart = Duration.ofMillis(1);
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
    awaitState(runtime, State.RESTARTING);
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
    firstRestart = Duration.ofMillis(1);
    AtomicInteger checks = new AtomicInteger();
    RdmaRuntime runtime =
        startedOn(
            parts ->
                engine.transport(
                    () -> {
                      if (checks.incrementAndGet() == 1) {
                        throw new IllegalStateException("thrown by the test");
                      }
                      parts.outOfService().accept("it hangs");
                    },
                    () -> engine.close("transport")));
    engine.awaitClosed("engine");
    assertThat(checks.get()).isGreaterThanOrEqualTo(2);
    awaitState(runtime, State.UP);
    runtime.close();
  }

  @Test
  void shouldNotComeBackWhenClosed() {
    LosableTransport transport = new LosableTransport(engine);
    RdmaRuntime runtime = startedOn(transport);
    transport.lose(1, "the device was removed");
    engine.awaitClosed("engine");
    runtime.close();
    assertThat(runtime.state()).isEqualTo(State.STOPPED);
    assertThat(transport.starts()).isEqualTo(1);
  }

  @Test
  void shouldEndARestartWhenClosed() throws InterruptedException {
    firstRestart = Duration.ofMillis(1);
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
  void shouldFetchWithTheTransportThatWasStartedLast() {
    CurrentTransport current = new CurrentTransport();
    List<String> fetched = new ArrayList<>();
    current.set((peer, blocks, files, handler) -> fetched.add("first"));
    current.fetch(null, List.of(), null, null);
    current.set((peer, blocks, files, handler) -> fetched.add("second"));
    current.fetch(null, List.of(), null, null);
    assertThat(fetched).containsExactly("first", "second");
  }

  @Test
  void shouldStartAgainWhenTheTransportFailsBeforeTheFirstStartIsOver() {
    firstRestart = Duration.ofMillis(1);
    LosableTransport transport =
        new LosableTransport(
            engine,
            (number, parts) -> {
              if (number < 3) {
                parts.outOfService().accept("the device was removed");
              }
            });
    RdmaRuntime runtime = runtime(engine, transport, List.of());
    runtime.start();
    awaitState(runtime, State.UP);
    assertThat(transport.starts()).isEqualTo(3);
    assertThat(runtime.mayFetch()).isTrue();
    runtime.close();
  }

  @Test
  void shouldStartAgainWhenMemoryWasShortAtTheFirstStart() {
    firstRestart = Duration.ofMillis(1);
    LosableTransport transport =
        new LosableTransport(
            engine,
            (number, parts) -> {
              if (number == 1) {
                throw new OutOfMemoryError("Java heap space");
              }
            });
    RdmaRuntime runtime = runtime(engine, transport, List.of());
    runtime.start();
    awaitState(runtime, State.UP);
    assertThat(transport.starts()).isEqualTo(2);
    runtime.close();
  }

  /** An Error where the start is logged, before readers and peers are informed. */
  @Test
  void shouldTreatAFailureAtTheEndOfAStartAsALossAndNoticeLaterLosses() throws Exception {
    firstRestart = Duration.ofMillis(1);
    LosableTransport transport = new LosableTransport(engine);
    RdmaRuntime runtime = runtime(engine, transport, List.of());
    try (FailingLog log = new FailingLog("RDMA is up")) {
      runtime.start();
      transport.awaitStarts(2);
      runtime.require(WAIT);
      assertThat(log.failed()).isTrue();
    }
    assertThat(engine.closed()).containsExactly("transport", "device", "engine");

    transport.lose(2, "the device was removed");

    transport.awaitStarts(3);
    runtime.require(WAIT);
    runtime.close();
  }

  /** An Error at a line of the log, between the steps that must follow a loss. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "RDMA is not used in this executor until",
        "Cannot close RDMA part",
        "RDMA stays off in this executor until it is closed",
        "RDMA is closed; tasks still hold",
        "RDMA cannot be started; next attempt",
        "RDMA still cannot be started",
        "Check of the RDMA transport failed"
      })
  void shouldWithdrawCloseAndStartAgainAfterALossWithoutMemoryForALineOfTheLog(String line)
      throws Exception {
    firstRestart = Duration.ofMillis(1);
    ScriptedDriver driver = connectedDriver();
    AtomicInteger starts = new AtomicInteger();
    AtomicInteger closes = new AtomicInteger();
    CompletableFuture<Consumer<String>> outOfService = new CompletableFuture<>();
    RdmaRuntime runtime =
        runtime(
            engine,
            parts -> {
              int start = starts.incrementAndGet();
              if (start == 2 || start == 3) {
                throw new VerbsException("listen", "the port is down");
              }
              outOfService.complete(parts.outOfService());
              return engine.transport(
                  () -> {
                    outOfService.join().accept("it hangs");
                    throw new IllegalStateException("thrown by the test");
                  },
                  () -> {
                    if (closes.incrementAndGet() == 1) {
                      throw new IllegalStateException("thrown by the test");
                    }
                    engine.close("transport");
                  });
            },
            List.of());
    try (FailingLog log = new FailingLog(line)) {
      runtime.start();
      driver.awaitPublished();
      if (!line.startsWith("Check")) {
        outOfService.join().accept("the device was removed");
      }
      driver.awaitWithdrawn();
      awaitState(runtime, State.UP);
      assertThat(log.failed()).isTrue();
    }
    assertThat(engine.closed())
        .as("in the order that verbs require; later starts opened device and engine")
        .containsExactly("transport", "device", "engine", "device", "engine", "device", "engine");
    runtime.close();
  }

  /** A driver whose directory the executor uses. */
  private ScriptedDriver connectedDriver() throws Exception {
    ScriptedDriver driver = new ScriptedDriver(() -> false);
    directory = driver.client();
    return driver;
  }

  /** The first start after the loss is an hour away: the checks in between repeat it. */
  @Test
  void shouldWithdrawTheEndpointWhenTheHandOverSucceedsLater() throws Exception {
    ScriptedDriver driver = connectedDriver();
    LosableTransport transport = new LosableTransport(engine);
    RdmaRuntime runtime = startedOn(transport);
    driver.awaitPublished();
    driver.refuseTasks(2);
    transport.lose(1, "the device was removed");
    driver.awaitWithdrawn();
    assertThat(driver.tasksToRefuse()).isZero();
    runtime.close();
  }

  @Test
  void shouldWithdrawTheEndpointWhenTheRetryIsLost() throws Exception {
    ScriptedDriver driver = connectedDriver();
    LosableTransport transport = new LosableTransport(engine);
    RdmaRuntime runtime = startedOn(transport);
    driver.awaitPublished();
    driver.loseWithdrawalAndItsRetry();
    transport.lose(1, "the device was removed");
    driver.awaitWithdrawn();
    runtime.close();
  }

  @Test
  void shouldPublishTheEndpointWhenTheHandOverSucceedsLater() throws Exception {
    ScriptedDriver driver = connectedDriver();
    // The figures, the request for the profile, and the endpoint.
    driver.refuseTasks(3);
    RdmaRuntime runtime = startedOn(new LosableTransport(engine));
    driver.awaitPublished();
    assertThat(driver.tasksToRefuse()).isZero();
    runtime.awaitPublished();
    runtime.close();
  }

  @Test
  void shouldReportThatRdmaIsOffForEverWhenTheHandOverSucceedsLater() throws Exception {
    ScriptedDriver driver = connectedDriver();
    // The figures, and the reasons.
    driver.refuseTasks(2);
    RdmaRuntime runtime = runtime(engine, parts -> engine.transport(), List.of("bad setting"));
    runtime.start();
    driver.awaitWithdrawn();
    assertThat(runtime.state()).isEqualTo(State.OFF);
    runtime.close();
  }

  @Test
  void shouldAnswerReadersAndStartLaterWithoutMemoryForTheLineAboutTheFirstStart()
      throws Exception {
    firstRestart = Duration.ofMillis(1);
    ScriptedDriver driver = connectedDriver();
    CountDownLatch mayStart = new CountDownLatch(1);
    LosableTransport transport =
        new LosableTransport(
            engine,
            (number, parts) -> {
              if (number == 1) {
                throw new OutOfMemoryError("thrown by the test");
              }
              awaitDespiteInterrupts(mayStart);
            });
    RdmaRuntime runtime = runtime(engine, transport, List.of());
    try (FailingLog log = new FailingLog("RDMA is not used in this executor until")) {
      runtime.start();
      driver.awaitWithdrawn();
      runtime.awaitPublished();
      assertThatThrownBy(() -> runtime.require(WAIT)).hasMessageContaining("thrown by the test");
      mayStart.countDown();
      awaitState(runtime, State.UP);
      assertThat(log.failed()).isTrue();
    }
    runtime.close();
  }

  @Test
  void shouldGoOnWhenAStepEndsWithAnError() {
    firstRestart = Duration.ofMillis(1);
    AtomicInteger looks = new AtomicInteger();
    FakeEngine down = new FakeEngine(PortState.DOWN);
    RdmaRuntime runtime =
        runtime(
            new RuntimeStart(
                SparkEnv.get(),
                ShuffleSettings.defaults(),
                (name, settings) -> (looks.get() == 0 ? down : engine).choice(),
                new LosableTransport(engine),
                List.of()) {
              @Override
              boolean mayStartLater() {
                if (looks.incrementAndGet() == 1) {
                  throw new OutOfMemoryError("thrown by the test");
                }
                return super.mayStartLater();
              }
            },
            WAIT);
    runtime.start();
    awaitState(runtime, State.UP);
    runtime.close();
  }

  /** Spark ends the executor for an uncaught Error of any thread. */
  @Test
  void shouldEndItsThreadWhenTheJvmFails() {
    CompletableFuture<Throwable> uncaught = new CompletableFuture<>();
    threads =
        task -> {
          Thread thread = new Thread(task);
          thread.setUncaughtExceptionHandler((ended, failure) -> uncaught.complete(failure));
          return thread;
        };
    FakeEngine down = new FakeEngine(PortState.DOWN);
    RdmaRuntime runtime =
        runtime(
            new RuntimeStart(
                SparkEnv.get(),
                ShuffleSettings.defaults(),
                (name, settings) -> down.choice(),
                parts -> down.transport(),
                List.of()) {
              @Override
              boolean mayStartLater() {
                throw new InternalError("thrown by the test");
              }
            },
            WAIT);
    runtime.start();
    assertThat(uncaught.join()).isInstanceOf(InternalError.class);
    runtime.close();
  }

  @Test
  void shouldCloseATransportWhoseStartEndsWithAnErrorAndStartAgain() {
    firstRestart = Duration.ofMillis(1);
    LosableTransport transport = new LosableTransport(engine);
    engine.failNextName();
    RdmaRuntime runtime = runtime(engine, transport, List.of());
    runtime.start();
    awaitState(runtime, State.UP);
    assertThat(transport.starts()).isEqualTo(2);
    assertThat(engine.closed()).containsExactly("transport", "device", "engine");
    runtime.close();
  }

  /** Between the start of the transport and the change of the state. */
  @Test
  void shouldCloseWhatWasStartedAndStartAgainAfterAnErrorAtTheEndOfAnAttempt() {
    firstRestart = Duration.ofMillis(1);
    LosableTransport transport = new LosableTransport(engine);
    RdmaRuntime runtime =
        runtime(
            new RuntimeStart(
                SparkEnv.get(),
                ShuffleSettings.defaults(),
                (name, settings) -> engine.choice(),
                transport,
                List.of()) {
              @Override
              List<String> reasons() {
                if (transport.starts() == 1) {
                  throw new OutOfMemoryError("thrown by the test");
                }
                return super.reasons();
              }
            },
            WAIT);
    runtime.start();
    awaitState(runtime, State.UP);
    assertThat(transport.starts()).isEqualTo(2);
    assertThat(engine.closed()).containsExactly("transport", "device", "engine");
    runtime.close();
  }

  @Test
  void shouldNotStartAgainAfterAnotherError() {
    firstRestart = Duration.ofMillis(1);
    LosableTransport transport =
        new LosableTransport(
            engine,
            (number, parts) -> {
              throw new NoClassDefFoundError("thrown by the test");
            });
    try (CapturedLog log = new CapturedLog()) {
      RdmaRuntime runtime = runtime(engine, transport, List.of());
      runtime.start();
      assertThatThrownBy(() -> runtime.require(WAIT)).hasMessageContaining("thrown by the test");
      assertThat(log.warnings())
          .as("no later start follows")
          .anyMatch(line -> line.contains("its shuffle reads use TCP: java.lang.NoClassDefFound"))
          .noneMatch(line -> line.contains("until it can be started"));
      runtime.close();
    }
    assertThat(transport.starts()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {5, 11, 16, 19, 24})
  void shouldStartLaterWhenACallOfTheDeviceFailsForAMomentAtTheFirstStart(int errno) {
    firstRestart = Duration.ofMillis(1);
    LosableTransport transport =
        new LosableTransport(
            engine,
            (number, parts) -> {
              if (number == 1) {
                throw new VerbsException(
                    "open",
                    "two devices",
                    new VerbsException("ibv_alloc_pd", errno, "fails", null));
              }
            });
    try (CapturedLog log = new CapturedLog()) {
      RdmaRuntime runtime = runtime(engine, transport, List.of());
      runtime.start();
      awaitState(runtime, State.UP);
      runtime.require(WAIT);
      assertThat(log.warnings())
          .singleElement()
          .asString()
          .contains("until it can be started", "two devices");
      runtime.close();
    }
    assertThat(transport.starts()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({"ibv_alloc_pd, 22", "ibv_alloc_pd, 12", "rdma_get_devices, 19"})
  void shouldNotStartAgainAfterAFailureOfACallThatLasts(String call, int errno) {
    firstRestart = Duration.ofMillis(1);
    LosableTransport transport =
        new LosableTransport(
            engine,
            (number, parts) -> {
              throw new VerbsException(call, errno, "thrown by the test", null);
            });
    RdmaRuntime runtime = runtime(engine, transport, List.of());
    runtime.start();
    assertThatThrownBy(() -> runtime.require(WAIT)).hasMessageContaining("thrown by the test");
    runtime.close();
    assertThat(transport.starts()).isEqualTo(1);
  }

  @Test
  void shouldStartLaterWhenNoEngineCanUseItsDevicesForAMoment() {
    firstRestart = Duration.ofMillis(1);
    AtomicInteger starts = new AtomicInteger();
    RdmaRuntime runtime =
        runtime(
            (name, settings) ->
                starts.incrementAndGet() == 1
                    ? new Verbs.Choice(null, List.of("ibverbs: no device answers"), true)
                    : engine.choice(),
            new LosableTransport(engine),
            List.of());
    runtime.start();
    awaitState(runtime, State.UP);
    runtime.require(WAIT);
    runtime.close();
    assertThat(starts).hasValue(2);
  }

  @Test
  void shouldStartWhenAPortBecomesActiveLater() {
    firstRestart = Duration.ofMillis(1);
    AtomicInteger starts = new AtomicInteger();
    FakeEngine down = new FakeEngine(PortState.DOWN);
    try (CapturedLog log = new CapturedLog()) {
      RdmaRuntime runtime =
          runtime(
              (name, settings) -> (starts.incrementAndGet() < 4 ? down : engine).choice(),
              new LosableTransport(engine),
              List.of());
      runtime.start();
      awaitState(runtime, State.UP);
      runtime.require(WAIT);
      assertThat(log.warnings())
          .singleElement()
          .asString()
          .contains("until it can be started", "fake0 port 1 is not active: state=DOWN");
      runtime.close();
    }
    assertThat(down.closed()).containsExactly("engine", "engine", "engine");
  }

  @Test
  void shouldStartLaterWhenTheSystemRefusesAThreadAtTheFirstStart() throws Exception {
    firstRestart = Duration.ofMillis(1);
    Thread refused = new RefusingThreads(0).newThread(() -> {});
    refused.setName("rdma-delivery-2");
    AtomicInteger starts = new AtomicInteger();
    RdmaRuntime runtime =
        runtime(
            engine,
            parts -> {
              if (starts.incrementAndGet() == 1) {
                ThreadShortageException.start(refused);
              }
              return engine.transport();
            },
            List.of());
    try (CapturedLog log = new CapturedLog()) {
      runtime.start();
      awaitState(runtime, State.UP);
      assertThat(log.warnings())
          .singleElement()
          .asString()
          .contains("until it can be started", "cannot start the thread rdma-delivery-2");
    }
    assertThat(starts).hasValue(2);
    runtime.close();
    assertThat(engine.closed())
        .containsExactly("device", "engine", "transport", "device", "engine");
  }

  @Test
  void shouldNotDelayTasksWhileAnInactivePortMayStillBecomeActive() throws Exception {
    FakeEngine down = new FakeEngine(PortState.DOWN);
    RdmaRuntime runtime = runtime(down, parts -> down.transport(), List.of());
    runtime.start();
    awaitState(runtime, State.OFF);
    long startNs = System.nanoTime();
    runtime.awaitPublished();
    assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isLessThan(Duration.ofSeconds(4));
    assertThat(runtime.mayFetch()).isFalse();
    runtime.close();
  }

  @Test
  void shouldSendEveryBlockToTcpBeforeTheFirstTransportIsStarted() {
    List<String> failed = new ArrayList<>();
    new CurrentTransport()
        .fetch(
            null,
            List.of(new BlockRange(1, 2, 3, 4), new BlockRange(1, 2, 4, 5)),
            null,
            new FetchHandler() {
              @Override
              public void onFetched(int index, ManagedBuffer buffer) {
                throw new AssertionError("fetched block " + index);
              }

              @Override
              public void onSuspect(int index, SuspectBlock suspect) {
                throw new AssertionError("fetched block " + index);
              }

              @Override
              public void onFailed(int index, FallbackReason reason, String detail) {
                failed.add(index + " " + reason);
              }
            });
    assertThat(failed).containsExactly("0 UNAVAILABLE", "1 UNAVAILABLE");
  }
}
