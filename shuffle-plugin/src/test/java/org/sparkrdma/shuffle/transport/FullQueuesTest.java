// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/** The device refuses another completion queue while an executor connects to several peers. */
class FullQueuesTest extends ScriptedExecutors {
  private static final List<BlockRange> BLOCKS = List.of(new BlockRange(0, 1, 0, 1));
  private static final int BYTES = 100_000;

  /** Room for one connection of {@link TestExecutor}. */
  private static final int ONE_CONNECTION = 85;

  @ParameterizedTest(
      name = "ibv_create_cq fails for ever with errno {0} when further peers need another queue")
  @ValueSource(ints = {12, 22})
  void shouldReadFromTheFirstPeerMeanwhile(int errno) throws Exception {
    TestExecutor reader = start(1, options -> options.maxCompletionQueueDepth(ONE_CONNECTION));
    List<TestExecutor> servers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      TestExecutor server = start(2 + i);
      server.outputs().write(1, new Random(i), BYTES);
      servers.add(server);
    }
    TestExecutor first = servers.get(0);
    awaitReads(reader, first, BLOCKS);
    library.fail("ibv_create_cq", errno, 1, ScriptedLibrary.FOR_EVER);
    try (CapturedLog log = new CapturedLog()) {
      for (TestExecutor other : servers.subList(1, servers.size())) {
        assertThat(fetch(reader, other, BLOCKS).await().reasons()).containsOnlyKeys("pool-empty");
        awaitReads(reader, first, BLOCKS);
      }
      assertThat(log.warnings())
          .filteredOn(line -> line.startsWith("The device refuses another completion queue"))
          .as("logged once")
          .hasSize(1);
    }
    assertThat(library.hits()).as("calls that failed").isGreaterThanOrEqualTo(2);
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isZero();

    library.reset();
    for (TestExecutor server : servers) {
      awaitReads(reader, server, BLOCKS);
    }
    assertAgentsIdle();
  }
}
