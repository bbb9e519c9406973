// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;

/** An executor ends on a device that destroys objects slowly, while two others fetch blocks. */
class SlowDestructionTest extends ScriptedExecutors {
  private static final List<BlockRange> BLOCKS =
      IntStream.range(0, 9).mapToObj(i -> new BlockRange(0, 1, i, i + 1)).toList();

  private static final int BYTES = 100_000;
  private static final int SLOW_MS = 30;

  @ParameterizedTest(name = "an executor ends while others fetch, and each {0} takes 30 ms")
  @ValueSource(strings = {"rdma_destroy_qp", "ibv_dereg_mr", "ibv_destroy_cq", "rdma_destroy_id"})
  void shouldReadFromOtherExecutorsMeanwhile(String call) throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    TestExecutor ending = start(3);
    server.outputs().write(1, new Random(1), IntStream.generate(() -> BYTES).limit(9).toArray());
    awaitReads(reader, server, BLOCKS);
    awaitReads(ending, server, BLOCKS);
    long before = library.calls(call);
    library.delay(call, SLOW_MS);

    CompletableFuture<Void> end = CompletableFuture.runAsync(() -> close(ending));
    do {
      CollectedBlocks collected = fetch(reader, server, BLOCKS).await();
      assertThat(collected.reasons()).isEmpty();
      for (int i = 0; i < BLOCKS.size(); i++) {
        assertThat(collected.bytes(i)).isEqualTo(server.outputs().expected(BLOCKS.get(i)));
      }
    } while (!end.isDone());
    end.get();

    assertThat(library.calls(call)).as("calls that were slow").isGreaterThan(before);
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isZero();
    assertAgentsIdle();
  }
}
