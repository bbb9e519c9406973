// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.verbs.ibverbs.ScriptedEngine;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/** Two executors on the ibverbs engine, whose scripted device is lost while they are connected. */
@Tag("slow")
@Timeout(60)
class DeviceLossTest {
  private static final List<BlockRange> BLOCKS = List.of(new BlockRange(0, 1, 0, 1));

  private static ScriptedLibrary library;

  @TempDir private Path directory;
  private final List<TestExecutor> executors = new ArrayList<>();

  @BeforeAll
  static void load() throws Exception {
    library = ScriptedLibrary.load();
  }

  @AfterEach
  void leaveNothing() {
    executors.forEach(TestExecutor::close);
    executors.clear();
    library.reset();
    assertThat(library.outstanding()).as("objects left in the device").isZero();
  }

  private TestExecutor start(long incarnation) throws Exception {
    Path own = Files.createDirectory(directory.resolve("executor-" + incarnation));
    TestExecutor executor =
        new TestExecutor(
            own,
            new TestExecutor.Options(incarnation)
                .on(ScriptedEngine.over(library))
                .mode(ServeSettings.Mode.COPY));
    executors.add(executor);
    return executor;
  }

  static Stream<Arguments> losses() {
    return Stream.of(
        loss("the device failed", device -> device.raise(8, 0)),
        loss("a port of the device is down", device -> device.raise(10, 1)),
        loss("the device was removed", device -> device.raiseOnListeners(11)),
        loss("the listener's address moved", device -> device.raiseOnListeners(14)),
        loss("the device was removed", ScriptedLibrary::killDescriptors));
  }

  private static Arguments loss(String reason, Consumer<ScriptedLibrary> event) {
    return Arguments.of(reason, event);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("losses")
  void shouldReportThatTheDeviceIsLostAndAnswerEveryBlock(
      String reason, Consumer<ScriptedLibrary> event) throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, new Random(1), 1000);
    assertThat(fetch(reader, server).await().bytes(0)).hasSize(1000);

    event.accept(library);
    while (reader.outOfService().isEmpty() || server.outOfService().isEmpty()) {
      Thread.onSpinWait();
    }

    assertThat(reader.outOfService().get(0)).startsWith(reason);
    assertThat(server.outOfService().get(0)).startsWith(reason);
    CollectedBlocks open = fetch(reader, server);
    reader.transport().close();
    server.transport().close();
    open.await();
  }

  private static CollectedBlocks fetch(TestExecutor reader, TestExecutor server) {
    CollectedBlocks collected = new CollectedBlocks(BLOCKS);
    reader.transport().fetch(server.endpoint(), BLOCKS, null, collected);
    return collected;
  }
}
