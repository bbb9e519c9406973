// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.LocalSpark;
import org.sparkrdma.shuffle.directory.DirectoryClient;
import org.sparkrdma.shuffle.directory.ScriptedDriver;
import org.sparkrdma.shuffle.fetch.FallbackThreads;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.runtime.RdmaStart.TransportStart;
import org.sparkrdma.shuffle.runtime.RuntimeStatus.State;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.thread.ControlThread;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * A test of {@link RdmaRuntime} in local mode, with an engine that the test controls. Spark runs as
 * long as the test class.
 */
@Timeout(60)
abstract class RuntimeFixture {
  /** Maximum wait for a step that must come. */
  static final Duration WAIT = Duration.ofSeconds(30);

  private static JavaSparkContext spark;

  final FakeEngine engine = new FakeEngine(PortState.ACTIVE);

  /** Maximum wait of tasks for the first start; by default no test waits for it. */
  Duration firstStart = Duration.ofHours(1);

  /** Wait before the first start after a loss; by default no test waits for it. */
  Duration firstRestart = Duration.ofHours(1);

  /** Wait of a close for the device. */
  Duration closeLimit = WAIT;

  final MissingLinks missing = new MissingLinks();

  /** Spark's own client. */
  BlockStoreClient client;

  /** The driver of the next runtime; null for that of local mode. */
  ScriptedDriver driver;

  @BeforeAll
  static void startSpark() {
    spark = new JavaSparkContext(LocalSpark.conf(1));
  }

  @AfterAll
  static void stopSpark() {
    spark.close();
  }

  /** Waits for a state; the test's time limit bounds it. */
  static void awaitState(RdmaRuntime runtime, State state) {
    while (runtime.state() != state) {
      Thread.onSpinWait();
    }
  }

  /** As in a native call, which ignores interrupts. */
  static void awaitDespiteInterrupts(CountDownLatch latch) {
    while (latch.getCount() > 0) {
      LockSupport.parkNanos(WAIT.toNanos() / 30_000);
    }
  }

  /** A runtime whose first start has succeeded. */
  final RdmaRuntime startedOn(TransportStart transports) {
    RdmaRuntime runtime = runtime(engine, transports);
    runtime.start();
    runtime.require(WAIT);
    return runtime;
  }

  final RdmaRuntime runtime(FakeEngine chosen, TransportStart transports) {
    return runtime((name, settings) -> chosen.choice(), transports);
  }

  final RdmaRuntime runtime(
      BiFunction<String, EngineSettings, Verbs.Choice> engines, TransportStart transports) {
    SparkEnv env = SparkEnv.get();
    ShuffleSettings settings = ShuffleSettings.defaults();
    ControlThread control = new ControlThread();
    DirectoryClient directory =
        driver == null
            ? new DirectoryClient(env, settings.lookupTimeout(), settings.lookupWait(), control)
            : driver.client(control);
    return new RdmaRuntime(
        env,
        client == null ? env.blockManager().blockStoreClient() : client,
        directory,
        new FallbackThreads(request -> {}),
        (peer, stage) -> directory.find(peer.executorId()),
        new ShuffleCounters(),
        new RdmaStart(env, settings, engines, transports, List.of()),
        new RdmaRuntime.Limits(firstStart, closeLimit, firstRestart),
        control,
        missing);
  }
}
