// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.runtime.RunningParts.TransportStart;
import org.sparkrdma.shuffle.runtime.RuntimeLifecycle.State;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.Transport;
import org.sparkrdma.verbs.spi.EngineSettings;

@Timeout(60)
class RdmaRuntimeTest {
  private static final Duration WAIT = Duration.ofSeconds(30);
  private static JavaSparkContext spark;

  private final FakeEngine engine = new FakeEngine(PortState.ACTIVE);
  private Duration firstRestart = Duration.ofHours(1);
  private ThreadFactory threads = Thread::new;

  @BeforeAll
  static void startSpark() {
    spark =
        new JavaSparkContext(
            new SparkConf(false)
                .setMaster("local[1]")
                .setAppName("runtime")
                .set("spark.ui.enabled", "false")
                .set("spark.driver.host", "127.0.0.1"));
  }

  @AfterAll
  static void stopSpark() {
    spark.close();
  }

  @Test
  void shouldCloseItsResourcesInOrder() {
    RdmaRuntime runtime = runtime(engine, parts -> engine.transport(), List.of());
    runtime.start();
    runtime.require(WAIT);
    assertThat(runtime.mayFetch()).isTrue();
    runtime.unregisterShuffle(3);
    runtime.close();
    runtime.close();
    assertThat(engine.closed()).containsExactly("shuffle 3", "transport", "device", "engine");
    assertThat(runtime.state()).isEqualTo(State.STOPPED);
    assertThat(runtime.mayFetch()).isFalse();
  }

  @Test
  void shouldDescribeItsStartInOneLine() throws InterruptedException {
    try (CapturedLog log = CapturedLog.fromInfo("org.sparkrdma.shuffle.runtime")) {
      RdmaRuntime runtime = runtime(engine, parts -> engine.transport(), List.of());
      runtime.start();
      runtime.require(WAIT);
      assertThat(log.awaitLines(1))
          .singleElement()
          .asString()
          .startsWith("RDMA is up: device fake0 port 1 of engine fake at [")
          .containsPattern("\\] \\(its port has .*\\), may pin [0-9]+ MiB: the minimum of: ")
          .doesNotContain("token");
      runtime.close();
    }
  }

  @Test
  void shouldCloseTheDeviceAndReportTheReasonWhenTheTransportDoesNotStart() {
    try (CapturedLog log = new CapturedLog()) {
      RdmaRuntime runtime =
          runtime(
              engine,
              parts -> {
                throw new VerbsException("listen", "cannot listen: port=1");
              },
              List.of());
      runtime.start();
      assertThatThrownBy(() -> runtime.require(WAIT))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("spark.shuffle.rdma.mode=required")
          .hasMessageContaining("cannot listen: port=1");
      assertThat(log.warnings()).singleElement().asString().contains("cannot listen: port=1");
      assertThat(runtime.state()).isEqualTo(State.OFF);
      runtime.close();
      assertThat(engine.closed()).containsExactly("device", "engine");
    }
  }

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
              },
              List.of());
      runtime.start();
      runtime.require(WAIT);
      assertThat(runtime.mayFetch()).isTrue();
      assertThat(tried).containsExactlyInAnyOrder("fake0", "fake1");
      assertThat(two.closed()).containsExactly("device");
      assertThat(log.warnings())
          .containsExactly(
              "An RDMA device does not start, another one of its subnet is tried: device="
                  + tried.get(0)
                  + " next="
                  + tried.get(1)
                  + ": ibv_alloc_pd failed: errno=5");
      runtime.close();
      assertThat(two.closed()).containsExactly("device", "transport", "device", "engine");
    }
  }

  @Test
  void shouldNameTheReasonsOfAllDevicesWhenNoneStarts() {
    FakeEngine two = new FakeEngine(PortState.ACTIVE).withASecondDevice();
    RdmaRuntime runtime =
        runtime(
            two,
            parts -> {
              throw new VerbsException("open", parts.device().info().name() + " is sick");
            },
            List.of());
    runtime.start();
    assertThatThrownBy(() -> runtime.require(WAIT))
        .hasMessageContaining("fake0 is sick")
        .hasMessageContaining("fake1 is sick");
    runtime.close();
    assertThat(two.closed()).containsExactly("device", "device", "engine");
  }

  @Test
  void shouldWarnThatAnInfiniBandDeviceNeedsAnIpAddress() throws Exception {
    Gid gid = new Gid(0, GidType.INFINIBAND, InetAddress.getByName("fe80::2:c903:29:1"));
    FakeEngine infiniBand =
        new FakeEngine(
            Transport.INFINIBAND,
            new PortInfo(1, PortState.ACTIVE, 4_096, List.of(gid), List.of()));
    try (CapturedLog log = new CapturedLog()) {
      RdmaRuntime runtime = runtime(infiniBand, parts -> infiniBand.transport(), List.of());
      runtime.start();
      assertThatThrownBy(() -> runtime.require(WAIT))
          .hasMessageContaining("fake0 port 1 has no IP address");
      assertThat(log.warnings())
          .singleElement()
          .asString()
          .startsWith("RDMA is not used in this executor, its shuffle reads use TCP")
          .contains("fake0 port 1 has no IP address", "IPoIB interface", "ip addr add")
          .endsWith(
              ". First run the command doctor of the plug-in's jar on this host: it says what to do");
      runtime.close();
    }
  }

  @Test
  void shouldNameEveryReasonAtOnceWhenItIsForbiddenAndThereIsNoDevice() {
    try (CapturedLog log = new CapturedLog()) {
      RdmaRuntime runtime =
          runtime(
              (name, settings) -> new Verbs.Choice(null, List.of("verbs: no device")),
              parts -> engine.transport(),
              List.of("encryption is asked for"));
      assertThat(runtime.mayFetch()).isFalse();
      runtime.start();
      assertThatThrownBy(() -> runtime.require(WAIT))
          .hasMessageContaining("encryption is asked for; verbs: no device");
      runtime.close();
      assertThat(log.warnings())
          .singleElement()
          .asString()
          .contains("encryption is asked for; verbs: no device");
    }
  }

  @Test
  void shouldNotOpenTheDeviceOfAForbiddenEngine() {
    RdmaRuntime runtime =
        runtime(engine, parts -> engine.transport(), List.of("encryption is asked for"));
    runtime.start();
    assertThatThrownBy(() -> runtime.require(WAIT)).isInstanceOf(IllegalStateException.class);
    runtime.close();
    assertThat(engine.closed()).containsExactly("engine");
  }

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

  @Test
  void shouldBeOffWhenTheSystemRefusesItsThread() {
    threads = new RefusingThreads(0);
    try (CapturedLog log = new CapturedLog()) {
      RdmaRuntime runtime = runtime(engine, new LosableTransport(engine), List.of());
      runtime.start();
      assertThat(runtime.mayFetch()).isFalse();
      assertThatThrownBy(() -> runtime.require(WAIT))
          .hasMessageContaining("unable to create native thread");
      assertThat(log.warnings())
          .singleElement()
          .asString()
          .contains("cannot start the thread rdma-runtime");
      runtime.close();
    }
  }

  @Test
  void shouldNotStartAgainWhenAPartDoesNotClose() {
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
      awaitState(runtime, State.OFF);
      assertThatThrownBy(() -> runtime.require(WAIT))
          .hasMessageContaining("the device was removed");
      runtime.close();
      assertThat(starts).hasValue(1);
      assertThat(engine.closed()).isEmpty();
      assertThat(log.warnings().get(log.warnings().size() - 1))
          .contains("RDMA stays off in this executor");
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
  void shouldBeOffWhenTheTransportFailsBeforeTheStartIsOver() {
    RdmaRuntime runtime =
        runtime(
            engine,
            new LosableTransport(
                engine, (number, parts) -> parts.outOfService().accept("the device was removed")),
            List.of());
    runtime.start();
    assertThatThrownBy(() -> runtime.require(WAIT)).hasMessageContaining("the device was removed");
    assertThat(runtime.state()).isEqualTo(State.OFF);
    assertThat(engine.closed()).containsExactly("transport", "device", "engine");
    runtime.close();
  }

  @Test
  void shouldSkipADeviceWithoutAnActivePort() {
    FakeEngine down = new FakeEngine(PortState.DOWN);
    RdmaRuntime runtime = runtime(down, parts -> down.transport(), List.of());
    runtime.start();
    assertThatThrownBy(() -> runtime.require(WAIT))
        .hasMessageContaining("fake0 port 1 is not active: state=DOWN");
    runtime.close();
    assertThat(down.closed()).containsExactly("engine");
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
            },
            List.of());
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
      RdmaRuntime runtime =
          runtime(
              (name, settings) -> engine.choice(),
              parts ->
                  engine.transport(
                      () -> {
                        awaitDespiteInterrupts(hanging);
                        engine.close("transport");
                      }),
              List.of(),
              Duration.ofMillis(20));
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

  @Test
  void shouldCloseOnTheCallersThreadWhenTheSystemAllowsNoMoreThreads() {
    threads = new RefusingThreads(1);
    RdmaRuntime runtime = startedOn(new LosableTransport(engine));
    runtime.close();
    assertThat(engine.closed()).containsExactly("transport", "device", "engine");
  }

  @Test
  void shouldLeaveTheDeviceOpenWhenTheTransportMayStillUseIt() {
    RdmaRuntime runtime =
        runtime(
            engine,
            parts ->
                engine.transport(
                    () -> {
                      throw new IllegalStateException("the transport agent did not end");
                    }),
            List.of());
    runtime.start();
    runtime.require(WAIT);
    runtime.close();
    assertThat(engine.closed()).isEmpty();
  }

  @Test
  void shouldReportTheReasonWhenItsStartEndsInAnError() {
    RdmaRuntime runtime =
        runtime(
            engine,
            parts -> {
              throw new OutOfMemoryError("unable to create native thread");
            },
            List.of());
    runtime.start();
    assertThatThrownBy(() -> runtime.require(WAIT))
        .hasMessageContaining("unable to create native thread");
    runtime.close();
    assertThat(engine.closed()).containsExactly("device", "engine");
  }

  /** Waits for a state; the test's time limit bounds it. */
  private static void awaitState(RdmaRuntime runtime, State state) {
    while (runtime.state() != state) {
      Thread.onSpinWait();
    }
  }

  private static void awaitDespiteInterrupts(CountDownLatch latch) {
    boolean opened = false;
    while (!opened) {
      try {
        latch.await();
        opened = true;
      } catch (InterruptedException e) {
        // A native call ignores interrupts as well.
        opened = latch.getCount() == 0;
      }
    }
  }

  /** A runtime whose first start has succeeded. */
  private RdmaRuntime startedOn(TransportStart transports) {
    RdmaRuntime runtime = runtime(engine, transports, List.of());
    runtime.start();
    runtime.require(WAIT);
    return runtime;
  }

  private RdmaRuntime runtime(FakeEngine chosen, TransportStart transports, List<String> reasons) {
    return runtime((name, settings) -> chosen.choice(), transports, reasons);
  }

  private RdmaRuntime runtime(
      BiFunction<String, EngineSettings, Verbs.Choice> engines,
      TransportStart transports,
      List<String> warnings) {
    return runtime(engines, transports, warnings, WAIT);
  }

  private RdmaRuntime runtime(
      BiFunction<String, EngineSettings, Verbs.Choice> engines,
      TransportStart transports,
      List<String> warnings,
      Duration closeLimit) {
    SparkEnv env = SparkEnv.get();
    ShuffleSettings settings = ShuffleSettings.defaults();
    ShuffleCounters counters = new ShuffleCounters();
    return new RdmaRuntime(
        env,
        env.blockManager().blockStoreClient(),
        settings,
        counters,
        new RuntimeStart(env, settings, engines, transports, warnings),
        closeLimit,
        firstRestart,
        threads);
  }
}
