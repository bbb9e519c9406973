// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.runtime.RuntimeStatus.State;
import org.sparkrdma.shuffle.thread.RefusingThreads;
import org.sparkrdma.shuffle.thread.ThreadShortageException;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.PortState;

/** The first start of a runtime fails; a later one follows, unless the cause lasts. */
@Tag("slow")
class FailedStartTest extends RuntimeFixture {
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
    firstRestart = Duration.ofMillis(1);
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
      RdmaRuntime runtime = runtime(engine, transport, List.of());
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
    assertStartsLater(runtime(engine, transport, List.of()), "two devices");
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
    assertStartsLater(
        runtime(
            (name, settings) ->
                starts.incrementAndGet() == 1
                    ? new Verbs.Choice(null, List.of("ibverbs: no device answers"), true)
                    : engine.choice(),
            new LosableTransport(engine),
            List.of()),
        "ibverbs: no device answers");
    assertThat(starts).hasValue(2);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldStartLaterWhenTheSystemRefusesAThreadAtTheFirstStart(boolean ofEngine)
      throws Exception {
    firstRestart = Duration.ofMillis(1);
    Thread refused = new RefusingThreads(0).newThread(() -> {});
    refused.setName("rdma-delivery-2");
    AtomicInteger starts = new AtomicInteger();
    RdmaRuntime runtime =
        runtime(
            engine,
            parts -> {
              boolean isFirst = starts.incrementAndGet() == 1;
              if (isFirst && ofEngine) {
                refused.start();
              } else if (isFirst) {
                ThreadShortageException.start(refused);
              }
              return engine.transport();
            },
            List.of());
    assertStartsLater(
        runtime, "cannot start the thread " + (ofEngine ? "of the engine" : "rdma-delivery-2"));
    assertThat(starts).hasValue(2);
    assertThat(engine.closed())
        .containsExactly("device", "engine", "transport", "device", "engine");
  }

  @Test
  void shouldNotDelayTasksWhileAnInactivePortMayStillBecomeActive() throws Exception {
    FakeEngine down = new FakeEngine(PortState.DOWN);
    RdmaRuntime runtime = runtime(down, parts -> down.transport(), List.of());
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
