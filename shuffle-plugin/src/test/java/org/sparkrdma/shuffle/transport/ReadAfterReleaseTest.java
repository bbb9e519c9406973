// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;

@Timeout(60)
class ReadAfterReleaseTest {
  @TempDir private Path directory;

  @Test
  void shouldKeepMemoryThatATaskStillHoldsWhenTheExecutorStops() throws Exception {
    TestExecutor executor = new TestExecutor(directory, new TestExecutor.Options(1));
    try (TestExecutor server = new TestExecutor(directory, new TestExecutor.Options(2))) {
      server.outputs().write(1, new Random(3), 100_000);
      ManagedBuffer block = fetch(executor, server);
      executor.transport().close();
      executor.allowMemoryToStay();
      assertThat(block.createInputStream().readAllBytes())
          .isEqualTo(server.outputs().expected(new BlockRange(0, 1, 0, 1)));
      block.release();
    } finally {
      executor.close();
    }
  }

  /** The block with a reference of its own. */
  private static ManagedBuffer fetch(TestExecutor reader, TestExecutor server) throws Exception {
    List<BlockRange> blocks = List.of(new BlockRange(0, 1, 0, 1));
    HoldingHandler handler = new HoldingHandler(1);
    FetchHandler.fetch(reader.transport(), server.endpoint(), blocks, handler);
    handler.left.await();
    ManagedBuffer buffer = (ManagedBuffer) handler.results.get(0);
    while (!released(buffer)) {
      Thread.onSpinWait();
    }
    return buffer;
  }

  /** Whether the transport has given its own reference back. */
  private static boolean released(ManagedBuffer buffer) {
    return buffer.toString().contains("references=1]");
  }
}
