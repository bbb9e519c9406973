// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/** Fetches with READs that fail. */
class FailedFetchTest extends TransportFixture {
  @Test
  void shouldAnswerEveryBlockOfAFailedReadOfNeighbours() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).faults("read-error@1"));
    TestExecutor server = start(2);
    server.outputs().write(1, random, 1000, 2000, 3000, 4000);
    List<BlockRange> blocks =
        List.of(block(1, 0, 1), block(1, 1, 2), block(1, 2, 3), block(1, 3, 4));
    CollectedBlocks failed = fetch(reader, server, blocks);
    for (int i = 0; i < blocks.size(); i++) {
      assertThat(failed.reason(i)).isEqualTo(FallbackReason.READ_ERROR);
    }
    assertThat(reader.count(Counter.RDMA_READS_POSTED)).isEqualTo(1);
    assertRight(server, blocks, fetch(reader, server, blocks));
    assertThat(reader.count(Counter.RDMA_READS_POSTED)).isEqualTo(2);
    assertThat(reader.count(Counter.BLOCKS_VERIFIED)).isEqualTo(4);
  }
}
