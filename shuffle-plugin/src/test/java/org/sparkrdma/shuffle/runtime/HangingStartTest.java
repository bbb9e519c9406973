// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.directory.Endpoints;
import org.sparkrdma.shuffle.directory.ScriptedDriver;
import org.sparkrdma.shuffle.fetch.FakeSparkClient;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.FetchingTask;
import org.sparkrdma.shuffle.fetch.RecordingListener;
import org.sparkrdma.shuffle.runtime.RdmaStart.DeviceStart;
import org.sparkrdma.shuffle.transport.StartedTransport;
import org.sparkrdma.verbs.VerbsException;

/** A first start in which a call of the device does not return for a long time. */
class HangingStartTest extends RuntimeFixture {
  /** An executor that has RDMA. */
  private static final String PEER = "7";

  /** Tasks after the first one: so many that their time does not depend on a busy machine. */
  private static final int LATER = 100;

  private final ScriptedDriver scripted = new ScriptedDriver();
  private final FakeSparkClient tcp = new FakeSparkClient();
  private final CountDownLatch mayStart = new CountDownLatch(1);
  private final CountDownLatch byRdma = new CountDownLatch(1);
  private final RecordingListener answers = new RecordingListener();
  private RdmaRuntime runtime;

  @BeforeEach
  void createRuntime() {
    scripted.publish(Endpoints.of(PEER, "host", 1));
    driver = scripted;
    client = tcp;
  }

  @AfterEach
  void close() {
    mayStart.countDown();
    runtime.close();
    assertThat(answers.failures()).isEmpty();
  }

  @Test
  void shouldMakeTasksWaitOnceAndThenUseTcp() throws InterruptedException {
    firstStart = Duration.ofMillis(500);
    try (CapturedLog log = new CapturedLog()) {
      long beginNs = System.nanoTime();
      start();
      runtime.awaitPublished();
      assertThat(Duration.ofNanos(System.nanoTime() - beginNs)).isGreaterThanOrEqualTo(firstStart);
      assertThat(runtime.mayFetch()).as("new reads use Spark's own reader").isFalse();

      long laterNs = System.nanoTime();
      for (int i = 0; i < LATER; i++) {
        runtime.awaitPublished();
      }
      assertThat(Duration.ofNanos(System.nanoTime() - laterNs))
          .as("tasks one after the other, each of which would wait as long as the first")
          .isLessThan(firstStart.multipliedBy(LATER / 2));
      assertThat(log.awaitWarnings(1))
          .containsExactly(
              "The start of RDMA hangs; shuffle reads of this executor use TCP until it is over:"
                  + " limitMs=500");
    }
  }

  @Test
  void shouldUseAStartThatEndsLate() throws InterruptedException {
    firstStart = Duration.ofMillis(1);
    start();
    runtime.awaitPublished();
    mayStart.countDown();
    scripted.awaitPublished();
    assertThat(runtime.mayFetch()).isTrue();
    fetch("shuffle_0_0_0");
    byRdma.await();
    runtime.require(WAIT);
  }

  @Test
  void shouldNameTheReasonOfALateFailure() {
    firstStart = Duration.ofMillis(1);
    try (CapturedLog log = new CapturedLog()) {
      runtime =
          runtime(
              engine,
              open -> {
                awaitDespiteInterrupts(mayStart);
                throw new VerbsException("open", "the device does not answer");
              });
      runtime.start();
      runtime.awaitPublished();
      mayStart.countDown();
      awaitState(runtime, RuntimeStatus.State.OFF);
      // The driver, which is in this process, may have a line as well.
      assertThat(log.warnings())
          .filteredOn(line -> line.startsWith("RDMA is not used in this executor"))
          .singleElement()
          .asString()
          .contains("the device does not answer");
    }
  }

  @Test
  void shouldFailTasksThatNeedRdma() {
    start();
    assertThatThrownBy(() -> runtime.require(Duration.ofMillis(1)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("spark.shuffle.rdma.mode=required and RDMA is not up");
  }

  private void start() {
    runtime = runtime(engine, this::startTransport);
    runtime.start();
  }

  private StartedTransport startTransport(DeviceStart open) {
    awaitDespiteInterrupts(mayStart);
    return engine.new IdleTransport(() -> {}, () -> engine.close("transport")) {
      @Override
      public void fetch(FetchRequest request) {
        byRdma.countDown();
      }
    };
  }

  private void fetch(String block) {
    runtime
        .reads()
        .client(new FetchingTask(null))
        .fetchBlocks("host", 7_337, PEER, new String[] {block}, answers, null);
  }
}
