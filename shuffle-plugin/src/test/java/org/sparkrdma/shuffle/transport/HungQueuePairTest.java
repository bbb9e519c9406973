// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.fetch.BlockRange;

/** A device that does not return from the creation of a queue pair, until the test ends that. */
class HungQueuePairTest extends ScriptedExecutors {
  private static final int CHECKS = 10;
  private static final int FOR_EVER_MS = 1_000_000;
  private static final List<BlockRange> BLOCKS = List.of(new BlockRange(0, 1, 0, 1));

  private TestExecutor reader;
  private TestExecutor server;
  private CollectedBlocks ofAnother;

  /** Connects to a server; then the creation for another one hangs. */
  @BeforeEach
  void startAndHang() throws Exception {
    reader =
        start(
            1,
            options ->
                options
                    .requestTimeout(Duration.ofSeconds(CHECKS))
                    .connectTimeout(Duration.ofSeconds(1)));
    server = start(2);
    TestExecutor another = start(3);
    server.outputs().write(1, new Random(1), 100_000);
    awaitReads(reader, server, BLOCKS);
    long created = library.calls("rdma_create_qp");
    library.delay("rdma_create_qp", FOR_EVER_MS);
    ofAnother = reader.fetch(another.endpoint(), BLOCKS);
    while (library.calls("rdma_create_qp") == created) {
      Thread.onSpinWait();
    }
  }

  @AfterEach
  void endHang() {
    library.endDelays();
  }

  @Test
  void shouldReadFromAServerThatIsConnected() throws Exception {
    CollectedBlocks read = fetch(reader, server, BLOCKS);
    assertThat(read.reasons()).isEmpty();
    assertThat(read.bytes(0)).isEqualTo(server.outputs().expected(BLOCKS.get(0)));
    assertThat(ofAnother.await().reasons()).as("by TCP").isNotEmpty();
  }

  @Test
  void shouldReportTheLossOfTheDeviceWhenItHangsForLong() throws Exception {
    // The first check sees the creation.
    for (int check = 0; check <= CHECKS; check++) {
      assertThat(reader.losses()).isEmpty();
      awaitTurn();
      reader.transport().check();
    }
    assertThat(reader.losses()).singleElement().asString().contains("hangs", "queue pair");
    assertThat(ofAnother.await().reasons()).isNotEmpty();
  }

  /** The agent itself does not hang. */
  private void awaitTurn() {
    long turns = reader.transport().built().agent.turns();
    reader.transport().built().work.execute(() -> {});
    while (reader.transport().built().agent.turns() == turns) {
      Thread.onSpinWait();
    }
  }

  @Test
  void shouldGoOnWithACloseWhenTheDeviceHasReturned() throws Exception {
    assertThatThrownBy(() -> reader.transport().close(Duration.ofMillis(1)))
        .hasMessageContaining("hangs while it creates a queue pair");
    assertThat(ofAnother.await().reasons()).isNotEmpty();
    library.endDelays();
    reader.transport().close(Duration.ofMinutes(1));
  }
}
