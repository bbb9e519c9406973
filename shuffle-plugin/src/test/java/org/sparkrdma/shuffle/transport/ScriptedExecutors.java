// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.IdleThreads;
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

  static void assertAgentsIdle() throws InterruptedException {
    IdleThreads.assertIdle();
  }
}
