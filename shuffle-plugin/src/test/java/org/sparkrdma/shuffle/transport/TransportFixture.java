// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;

/** Executors with map outputs, which fetch blocks from each other; all are closed after a test. */
@Timeout(120)
abstract class TransportFixture {
  @TempDir Path directory;
  final Random random = new Random(7);
  final List<TestExecutor> executors = new ArrayList<>();
  private int started;

  TestExecutor start(TestExecutor.Options options) throws Exception {
    Path own = Files.createDirectory(directory.resolve("executor-" + started++));
    TestExecutor executor = new TestExecutor(own, options);
    executors.add(executor);
    return executor;
  }

  TestExecutor start(long incarnation) throws Exception {
    return start(new TestExecutor.Options(incarnation));
  }

  @AfterEach
  void closeAllWithoutLeaks() {
    executors.forEach(TestExecutor::close);
    // JUnit may hold this instance, and Java 17 unmaps only unreachable buffers.
    executors.clear();
  }

  /** Closes one of them before the end of the test. */
  final void close(TestExecutor executor) {
    executors.remove(executor);
    executor.close();
  }

  static CollectedBlocks fetch(TestExecutor reader, TestExecutor server, List<BlockRange> blocks)
      throws Exception {
    return fetch(reader, server.endpoint(), blocks);
  }

  static CollectedBlocks fetch(TestExecutor reader, Endpoint server, List<BlockRange> blocks)
      throws Exception {
    return reader.fetch(server, blocks).await();
  }

  static BlockRange block(long mapId, int from, int to) {
    return new BlockRange(0, mapId, from, to);
  }

  static void assertRight(TestExecutor server, List<BlockRange> blocks, CollectedBlocks collected) {
    for (int i = 0; i < blocks.size(); i++) {
      assertThat(collected.bytes(i)).isEqualTo(server.outputs().expected(blocks.get(i)));
    }
  }
}
