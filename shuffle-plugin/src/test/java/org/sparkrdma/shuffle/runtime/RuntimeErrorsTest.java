// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.spark.SparkEnv;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.directory.ScriptedDriver;
import org.sparkrdma.shuffle.runtime.RunningParts.TransportStart;
import org.sparkrdma.shuffle.runtime.RuntimeLifecycle.State;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.PortState;

/** Errors on the thread of a runtime, such as no memory for a line of the log. */
class RuntimeErrorsTest extends RuntimeFixture {
  /** A start with default settings; each test overrides a method of it that fails. */
  private static class FailingStart extends RuntimeStart {
    FailingStart(Supplier<FakeEngine> chosen, TransportStart transports) {
      super(
          SparkEnv.get(),
          ShuffleSettings.defaults(),
          (name, settings) -> chosen.get().choice(),
          transports,
          List.of());
    }
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
            new FailingStart(() -> looks.get() == 0 ? down : engine, new LosableTransport(engine)) {
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
            new FailingStart(() -> down, parts -> down.transport()) {
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
            new FailingStart(() -> engine, transport) {
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
}
