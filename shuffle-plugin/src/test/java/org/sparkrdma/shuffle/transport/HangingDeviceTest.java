// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.sparkrdma.faults.ScriptedCase;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/** A call of the device does not return for longer than an agent may take. */
class HangingDeviceTest extends ScriptedExecutors {
  private static final List<BlockRange> BLOCKS = List.of(new BlockRange(0, 1, 0, 1));
  private static final int BYTES = 100_000;

  /** Until the test ends it. */
  private static final int HANGING_MS = 600_000;

  @Test
  @DisplayName("one rdma_create_qp does not return for seconds")
  @ScriptedCase("TCP (stopped) while it hangs, READ by a new executor")
  void shouldEndRdmaInAnExecutorWhoseAgentHangsInACall() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, new Random(1), BYTES);
    String call = "rdma_create_qp";
    long before = library.calls(call);
    library.delay(call, HANGING_MS);
    try (CapturedLog log = new CapturedLog()) {
      CollectedBlocks open = fetch(reader, server, BLOCKS);
      while (library.calls(call) == before) {
        Thread.onSpinWait();
      }
      // The call that runs goes on.
      library.delay(call, 0);
      while (reader.outOfService().isEmpty()) {
        // As the thread of the runtime does.
        reader.transport().check();
        new CountDownLatch(1).await(RdmaTransport.CHECK_INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
      }

      assertThat(open.await().reason(0)).isEqualTo(FallbackReason.STOPPED);
      assertThat(fetch(reader, server, BLOCKS).await().reason(0)).isEqualTo(FallbackReason.STOPPED);
      assertThat(reader.outOfService())
          .containsExactly("the transport agent hangs in a call of the device");
      assertThat(log.warnings())
          .anyMatch(line -> line.startsWith("Transport agent hangs in a call of the device"));
    } finally {
      library.endDelays();
    }
    close(reader);
    assertThat(server.outOfService()).isEmpty();
    TestExecutor again = start(3);
    awaitReads(again, server, BLOCKS);
    assertAgentsIdle();
  }
}
