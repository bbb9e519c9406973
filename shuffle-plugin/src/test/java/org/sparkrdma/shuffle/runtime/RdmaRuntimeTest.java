// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.SparkEnv;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.runtime.RuntimeStatus.State;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.PortState;

/** Start and close of a runtime. */
class RdmaRuntimeTest extends RuntimeFixture {
  @Test
  void shouldStartOnAnotherDeviceWhenTheChosenOneDoesNotStart() {
    FakeEngine two = new FakeEngine(PortState.ACTIVE).withASecondDevice();
    List<String> tried = new CopyOnWriteArrayList<>();
    try (CapturedLog log = new CapturedLog()) {
      RdmaRuntime runtime =
          runtime(
              two,
              parts -> {
                tried.add(parts.device().info().name());
                if (tried.size() == 1) {
                  throw new VerbsException("ibv_alloc_pd", "ibv_alloc_pd failed: errno=5");
                }
                return two.transport();
              });
      runtime.start();
      runtime.require(WAIT);
      assertThat(runtime.mayFetch()).isTrue();
      assertThat(tried).containsExactlyInAnyOrder("fake0", "fake1");
      assertThat(two.closed()).containsExactly("device");
      assertThat(log.warnings())
          .containsExactly(
              "An RDMA device does not start; trying another one in its subnet: device="
                  + tried.get(0)
                  + " next="
                  + tried.get(1)
                  + ": ibv_alloc_pd failed: errno=5");
      runtime.close();
      assertThat(two.closed()).containsExactly("device", "transport", "device", "engine");
    }
  }

  @Test
  void shouldTellTheEngineWhichExecutorThisIs() {
    AtomicReference<String> process = new AtomicReference<>();
    RdmaRuntime runtime =
        runtime(
            (name, settings) -> {
              process.set(settings.process());
              return engine.choice();
            },
            parts -> engine.transport());
    runtime.start();
    runtime.require(WAIT);
    assertThat(process.get()).isEqualTo(SparkEnv.get().executorId());
    runtime.close();
  }

  @Test
  void shouldReleaseEverythingWhenClosedDuringStart() throws InterruptedException {
    CountDownLatch starting = new CountDownLatch(1);
    CountDownLatch closing = new CountDownLatch(1);
    RdmaRuntime runtime =
        runtime(
            engine,
            parts -> {
              starting.countDown();
              awaitDespiteInterrupts(closing);
              return engine.transport();
            });
    runtime.start();
    starting.await();
    Thread closer = new Thread(runtime::close);
    closer.start();
    closing.countDown();
    closer.join();
    assertThat(runtime.state()).isEqualTo(State.STOPPED);
    assertThat(engine.closed()).containsExactly("transport", "device", "engine");
  }

  @Test
  void shouldLimitTheWaitForADeviceThatDoesNotClose() {
    CountDownLatch hanging = new CountDownLatch(1);
    try (CapturedLog log = new CapturedLog()) {
      closeLimit = Duration.ofMillis(20);
      RdmaRuntime runtime =
          runtime(
              engine,
              parts ->
                  engine.transport(
                      () -> {
                        awaitDespiteInterrupts(hanging);
                        engine.close("transport");
                      }));
      runtime.start();
      runtime.require(WAIT);
      runtime.close();
      assertThat(log.warnings()).singleElement().asString().contains("left to the system");
      assertThat(engine.closed()).isEmpty();
      hanging.countDown();
      engine.awaitClosed("engine");
      assertThat(engine.closed()).containsExactly("transport", "device", "engine");
    }
  }
}
