// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.FallbackReason;

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
    CompletableFuture<ManagedBuffer> fetched = new CompletableFuture<>();
    FetchHandler.fetch(
        reader.transport(),
        server.endpoint(),
        List.of(new BlockRange(0, 1, 0, 1)),
        new FetchHandler() {
          @Override
          public void onFetched(int index, ManagedBuffer buffer) {
            fetched.complete(buffer.retain());
          }

          @Override
          public void onFailed(int index, FallbackReason reason, String detail) {
            fetched.completeExceptionally(new AssertionError(reason + " " + detail));
          }
        });
    ManagedBuffer buffer = fetched.get(30, TimeUnit.SECONDS);
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
