// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.TaskKilledException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.directory.DirectoryClient;
import org.sparkrdma.shuffle.directory.ScriptedDriver;

/** Tasks of {@code mode=required} in an executor without RDMA. */
@Timeout(30)
class RequiredModeTest {
  private static final Duration LONG = Duration.ofMinutes(1);

  private final RuntimeLifecycle lifecycle = new RuntimeLifecycle();
  private final AtomicInteger requests = new AtomicInteger();
  private final AtomicLong nowNs = new AtomicLong();
  private final AtomicLong anotherAtNs = new AtomicLong();

  @Test
  void shouldKillTheTaskWhenTheDriverAnswersTheThirdRequest() {
    off();
    assertThatThrownBy(
            () ->
                require(
                    LONG,
                    () -> {
                      if (requests.incrementAndGet() < 3) {
                        throw new IOException("lost answer");
                      }
                      return true;
                    }))
        .isInstanceOf(TaskKilledException.class);
    assertThat(requests).hasValue(3);
  }

  /** Spark would end the executor for an Error. */
  @Test
  void shouldRequestTheExclusionAgainAfterAnError() {
    off();
    RequiredMode mode =
        new RequiredMode(
            lifecycle,
            () -> {
              if (requests.incrementAndGet() < 2) {
                throw new OutOfMemoryError("unable to create native thread");
              }
              return CompletableFuture.completedFuture(true);
            },
            LONG);
    assertThatThrownBy(() -> mode.require(Duration.ofMillis(1)))
        .isInstanceOf(TaskKilledException.class);
    assertThat(requests).hasValue(2);
  }

  /** The wait for an answer is no pause between two jobs, after which tasks wait anew. */
  @Test
  void shouldFailTheTaskWhenTheDriverTakesLongerForAnAnswerThanTasksWait() {
    off();
    RequiredMode mode =
        new RequiredMode(
            lifecycle,
            () -> {
              requests.incrementAndGet();
              nowNs.addAndGet(Duration.ofSeconds(25).toNanos());
              return CompletableFuture.completedFuture(false);
            },
            LONG,
            nowNs::get,
            milliseconds -> nowNs.addAndGet(Duration.ofMillis(milliseconds).toNanos()));
    assertThatThrownBy(() -> mode.require(Duration.ofMillis(1)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("RDMA is not up: no device");
    assertThat(requests).hasValue(1);
  }

  @Test
  void shouldFailTheTaskWhileTheRequestEndsInErrors() {
    off();
    RequiredMode mode =
        new RequiredMode(
            lifecycle,
            () -> {
              requests.incrementAndGet();
              throw new OutOfMemoryError("unable to create native thread");
            },
            Duration.ofNanos(1));
    assertThatThrownBy(() -> mode.require(Duration.ofMillis(1)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("RDMA is not up: no device");
    assertThat(requests).hasValue(1);
  }

  @Test
  void shouldFailTheTaskWhenTheDriverDoesNotAnswerInTime() {
    off();
    assertThatThrownBy(
            () ->
                require(
                    Duration.ofMillis(600),
                    () -> {
                      requests.incrementAndGet();
                      throw new IOException("lost answer");
                    }))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("RDMA is not up: no device");
    assertThat(requests.get()).isGreaterThanOrEqualTo(2);
  }

  @Test
  void shouldRunTheTaskWhenRdmaComesUpBeforeTheDriverExcludesTheExecutor() {
    off();
    require(
        LONG,
        () -> {
          lifecycle.beginAttempt();
          lifecycle.endAttempt(new RunningParts(null, null, null, null, "none"), List.of());
          return false;
        });
    assertThat(lifecycle.state()).isEqualTo(RuntimeLifecycle.State.UP);
  }

  @Test
  void shouldKillTheTaskWhenTheStartHangs() {
    lifecycle.beginAttempt();
    assertThatThrownBy(() -> require(LONG, () -> true))
        .isInstanceOf(TaskKilledException.class)
        .hasMessageContaining("RDMA is not up: still starting");
    lifecycle.reportHangingStart(List.of("it hangs"));
    assertThatThrownBy(() -> require(LONG, () -> true))
        .isInstanceOf(TaskKilledException.class)
        .hasMessageContaining("RDMA is not up: it hangs");
  }

  /** Spark would count a refusal as a failure of the task. */
  @Test
  void shouldRunTheTaskAndRequestNothingWhileTheExecutorStops() {
    lifecycle.stop();
    require(
        LONG,
        () -> {
          requests.incrementAndGet();
          return true;
        });
    assertThat(requests).hasValue(0);
  }

  @Test
  void shouldRunTheTaskWhenTheExecutorStopsWhileItWaitsForTheDriver() {
    off();
    require(
        LONG,
        () -> {
          requests.incrementAndGet();
          lifecycle.stop();
          return false;
        });
    assertThat(requests).hasValue(1);
  }

  /** A runtime without RDMA for whose executor the driver has another one after that time. */
  private RequiredMode inVirtualTime(Duration anotherAfter) {
    off();
    anotherAtNs.set(anotherAfter.toNanos());
    return new RequiredMode(
        lifecycle,
        () -> {
          requests.incrementAndGet();
          return CompletableFuture.completedFuture(nowNs.get() >= anotherAtNs.get());
        },
        LONG,
        nowNs::get,
        milliseconds -> nowNs.addAndGet(Duration.ofMillis(milliseconds).toNanos()));
  }

  private void pass(Duration time) {
    nowNs.addAndGet(time.toNanos());
  }

  /** Dynamic allocation keeps an idle executor, and starts others with the first stage. */
  @Test
  void shouldWaitForAnotherExecutorWithRdmaAlsoInAnOldExecutor() {
    RequiredMode mode = inVirtualTime(Duration.ofSeconds(305));
    pass(Duration.ofMinutes(5));
    assertThatThrownBy(() -> mode.require(Duration.ofMillis(1)))
        .isInstanceOf(TaskKilledException.class);
    assertThat(nowNs.get()).isEqualTo(Duration.ofSeconds(305).toNanos());
  }

  @Test
  void shouldFailTheTasksOfAJobTogetherTwentySecondsAfterTheFirst() {
    RequiredMode mode = inVirtualTime(Duration.ofDays(1));
    pass(Duration.ofMinutes(5));
    long beginNs = nowNs.get();
    for (int attempt = 0; attempt < 4; attempt++) {
      assertThatThrownBy(() -> mode.require(Duration.ofMillis(1)))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("RDMA is not up: no device");
    }
    assertThat(Duration.ofNanos(nowNs.get() - beginNs))
        .isBetween(Duration.ofSeconds(20), Duration.ofSeconds(21));
  }

  @Test
  void shouldWaitAgainForATaskOfALaterJob() {
    RequiredMode mode = inVirtualTime(Duration.ofMinutes(10));
    assertThatThrownBy(() -> mode.require(Duration.ofMillis(1)))
        .isInstanceOf(IllegalStateException.class);
    nowNs.set(Duration.ofMinutes(10).minusSeconds(5).toNanos());
    assertThatThrownBy(() -> mode.require(Duration.ofMillis(1)))
        .isInstanceOf(TaskKilledException.class);
  }

  private void off() {
    lifecycle.beginAttempt();
    lifecycle.endAttempt(null, List.of("no device"));
    lifecycle.endWaits();
  }

  private void require(Duration answerLimit, Callable<Boolean> exclusion) {
    try (DirectoryClient directory = new ScriptedDriver(exclusion).client()) {
      new RequiredMode(lifecycle, () -> directory.exclude("7"), answerLimit)
          .require(Duration.ofMillis(1));
    }
  }
}
