// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.ibverbs.ScriptedDevice;
import org.sparkrdma.verbs.ibverbs.ScriptedEngine;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/** A test of executors on the ibverbs engine, on one scripted device that all of them open. */
@Tag("slow")
@Timeout(60)
abstract class ScriptedExecutors extends TransportFixture {
  /** An agent wakes up at ticks of 5 ms at most, for two iterations. */
  private static final int MAX_ITERATIONS_PER_SECOND = 1_000;

  private static final int MEASURED_MS = 20;
  private static final int MEASUREMENTS = 250;

  @RegisterExtension static final ScriptedDevice DEVICE = new ScriptedDevice();

  /** The device's script. */
  ScriptedLibrary library;

  @BeforeEach
  void takeDevice() {
    library = DEVICE.library();
  }

  @Override
  final TestExecutor start(long incarnation) throws Exception {
    return start(incarnation, options -> options);
  }

  /** Starts an executor that serves by copies. */
  final TestExecutor start(long incarnation, UnaryOperator<TestExecutor.Options> with)
      throws Exception {
    return start(incarnation, ScriptedEngine.over(library), with);
  }

  /** The same on an engine, which the executor closes. */
  final TestExecutor start(
      long incarnation, VerbsEngine engine, UnaryOperator<TestExecutor.Options> with)
      throws Exception {
    var options = new TestExecutor.Options(incarnation).on(engine).mode(ServeSettings.Mode.COPY);
    return start(with.apply(options));
  }

  /**
   * Makes the device do something, in steps with commas between them: fail a call with an errno
   * from its first, second, ... on, so often; delay a call; lose events or raise one, here on
   * connections or listeners; kill its descriptors; or keep to a limit.
   */
  final void script(String steps) {
    for (String step : steps.split(", ", -1)) {
      String[] words = step.split(" ", -1);
      switch (words[0]) {
        case "fail" -> library.fail(words[1], number(words[2]), number(words[3]), number(words[4]));
        case "delay" -> library.delay(words[1], number(words[2]));
        case "lose" -> library.lose(number(words[1]), number(words[2]));
        case "raise" -> library.raise(number(words[1]), words[1].startsWith("DEVICE") ? 0 : 1);
        case "raiseOnConnections" -> library.raiseOnConnections(number(words[1]));
        case "raiseOnListeners" -> library.raiseOnListeners(number(words[1]));
        case "killDescriptors" -> library.killDescriptors();
        default -> library.limit(words[0], number(words[1]));
      }
    }
  }

  /** A number, {@code always}, or the name of an event. */
  private static int number(String word) {
    if (word.matches("\\d+")) {
      return Integer.parseInt(word);
    }
    try {
      String name = word.equals("always") ? "FOR_EVER" : word;
      return ScriptedLibrary.class.getField(name).getInt(null);
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException(word, e);
    }
  }

  /** Fetches until all blocks come by READ: after a quarantine, for example. */
  static void awaitReads(TestExecutor reader, TestExecutor server, List<BlockRange> blocks)
      throws Exception {
    CollectedBlocks collected;
    do {
      collected = fetch(reader, server, blocks);
    } while (!collected.reasons().isEmpty());
    assertRight(server, blocks, collected);
  }

  /**
   * Requires that the agents sleep until something happens. Counts their iterations, of which a
   * busy machine leaves fewer, and not their CPU time, of which it makes each wake-up take more. An
   * agent that waits on a descriptor that is always ready has no pause between two of them.
   */
  final void assertAgentsIdle() throws InterruptedException {
    for (TestExecutor executor : executors) {
      double lowest = Double.MAX_VALUE;
      // An attempt of a connection may outlast its blocks.
      for (int i = 0; i < MEASUREMENTS && lowest >= MAX_ITERATIONS_PER_SECOND; i++) {
        lowest = Math.min(lowest, iterationsPerSecond(executor.transport().built().agent));
      }
      assertThat(lowest)
          .as("iterations of the agent of executor %s in a second", executor.endpoint())
          .isLessThan(MAX_ITERATIONS_PER_SECOND);
    }
  }

  private static double iterationsPerSecond(Agent agent) throws InterruptedException {
    long startNs = System.nanoTime();
    long start = agent.turns();
    new CountDownLatch(1).await(MEASURED_MS, TimeUnit.MILLISECONDS);
    long iterations = agent.turns() - start;
    return iterations * 1e9 / (System.nanoTime() - startNs);
  }
}
