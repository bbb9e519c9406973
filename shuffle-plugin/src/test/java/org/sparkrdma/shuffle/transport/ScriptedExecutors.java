// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.ibverbs.ScriptedDevice;
import org.sparkrdma.verbs.ibverbs.ScriptedEngine;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/** A test of executors on the ibverbs engine, on one scripted device that all of them open. */
@Tag("slow")
@Timeout(60)
abstract class ScriptedExecutors {
  /** Maximum CPU use of an idle agent, in percent of one core. */
  private static final double MAX_IDLE_PERCENT = 1;

  private static final long IDLE_MS = 100;

  /**
   * For longer than an attempt of a connection, which keeps its agent busy, outlasts its blocks.
   */
  private static final int IDLE_MEASUREMENTS = 50;

  @RegisterExtension static final ScriptedDevice DEVICE = new ScriptedDevice();

  /** The device's script. */
  ScriptedLibrary library;

  @TempDir private Path directory;
  private final List<TestExecutor> executors = new ArrayList<>();

  @BeforeEach
  void takeDevice() {
    library = DEVICE.library();
  }

  @AfterEach
  void closeExecutors() {
    executors.forEach(TestExecutor::close);
    executors.clear();
  }

  /** Closes one of them before the end of the test. */
  final void close(TestExecutor executor) {
    executors.remove(executor);
    executor.close();
  }

  /** An empty folder of the test. */
  final Path newFolder(String name) throws Exception {
    return Files.createDirectory(directory.resolve(name));
  }

  final TestExecutor start(long incarnation) throws Exception {
    return start(incarnation, options -> options);
  }

  /** Starts an executor that serves by copies; it is closed after the test. */
  final TestExecutor start(long incarnation, UnaryOperator<TestExecutor.Options> with)
      throws Exception {
    return start(incarnation, ScriptedEngine.over(library), with);
  }

  /** The same on an engine, which the executor closes. */
  final TestExecutor start(
      long incarnation, VerbsEngine engine, UnaryOperator<TestExecutor.Options> with)
      throws Exception {
    var options = new TestExecutor.Options(incarnation).on(engine).mode(ServeSettings.Mode.COPY);
    TestExecutor executor =
        new TestExecutor(newFolder("executor-" + incarnation), with.apply(options));
    executors.add(executor);
    return executor;
  }

  static CollectedBlocks fetch(TestExecutor reader, TestExecutor server, List<BlockRange> blocks) {
    CollectedBlocks collected = new CollectedBlocks(blocks);
    reader.transport().fetch(server.endpoint(), blocks, null, collected);
    return collected;
  }

  /** Fetches until all blocks come by READ: after a quarantine, for example. */
  static void awaitReads(TestExecutor reader, TestExecutor server, List<BlockRange> blocks)
      throws Exception {
    CollectedBlocks collected;
    do {
      collected = fetch(reader, server, blocks).await();
    } while (!collected.reasons().isEmpty());
    for (int i = 0; i < blocks.size(); i++) {
      assertThat(collected.bytes(i)).isEqualTo(server.outputs().expected(blocks.get(i)));
    }
  }

  /** The lowest of a few measurements: late events and the compiler may disturb one. */
  static void assertAgentsIdle() throws InterruptedException {
    double lowest = 100;
    for (int i = 0; i < IDLE_MEASUREMENTS && lowest >= MAX_IDLE_PERCENT; i++) {
      long startNs = System.nanoTime();
      long startCpuNs = agentsCpuNs();
      new CountDownLatch(1).await(IDLE_MS, TimeUnit.MILLISECONDS);
      long cpuNs = agentsCpuNs() - startCpuNs;
      lowest = Math.min(lowest, 100.0 * cpuNs / (System.nanoTime() - startNs));
    }
    assertThat(lowest).as("CPU use of idle agents, in percent").isLessThan(MAX_IDLE_PERCENT);
  }

  private static long agentsCpuNs() {
    var threads = ManagementFactory.getThreadMXBean();
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("rdma-agent"))
        .mapToLong(thread -> Math.max(0, threads.getThreadCpuTime(thread.getId())))
        .sum();
  }
}
