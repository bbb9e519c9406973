// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.sparkrdma.faults.Comparison;
import org.sparkrdma.faults.FaultBound;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;

/**
 * A server with an honest peer, which must go on, and a hostile one. Each fault from which the
 * honest peer reads is a row of the fault table.
 */
abstract class HostilePeerFixture extends TransportFixture {
  static final int MAPS = 32;
  private static final HostilityRows ROWS = new HostilityRows("hostile-peer.json");

  TestExecutor server;
  TestExecutor honest;
  HostilePeer hostile;
  private Comparison honestReads = Comparison.NONE;
  private long beginNs;

  /** Bound of the time of the fault. */
  int boundSeconds = FaultBound.BRIEF;

  @BeforeEach
  void openADeviceOfAHostilePeer() throws Exception {
    hostile = new HostilePeer();
    HostilePeer.takeAttempts();
  }

  void startAndConnect(TestExecutor.Options options) throws Exception {
    startServer(options);
    hostile.connect(server.endpoint());
  }

  void startServer(TestExecutor.Options options) throws Exception {
    honest = start(new TestExecutor.Options(1).requestTimeout(Duration.ofSeconds(2)));
    server = start(options);
    for (int map = 0; map < MAPS; map++) {
      server.outputs().write(map, random, 200_000, 1_000);
    }
    assertHonestPeerReads(0);
    beginFault();
  }

  void beginFault() {
    honestReads = Comparison.NONE;
    ROWS.begin();
    beginNs = System.nanoTime();
  }

  @AfterEach
  void addRowAndCloseTheHostilePeer(TestInfo test) {
    try {
      addRow(test);
    } finally {
      ROWS.end();
      hostile.close();
    }
  }

  private void addRow(TestInfo test) {
    if (honestReads.compared() > 0) {
      ROWS.add(
          test,
          boundSeconds,
          HostilePeer.takeAttempts(),
          honestReads,
          Comparison.NONE,
          (System.nanoTime() - beginNs) / 1e9,
          Map.of(),
          server.counters().snapshot());
    }
  }

  @AfterAll
  static void writeRows() throws IOException {
    ROWS.write();
  }

  static BlockRange block(long map) {
    return block(map, 0, 1);
  }

  /** The honest peer reads a block by RDMA, on its first connection. */
  void assertHonestPeerReads(long map) throws Exception {
    assertBytes(map);
    assertThat(honest.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
  }

  /** The honest peer reads a block by RDMA. */
  void assertBytes(long map) throws Exception {
    List<BlockRange> blocks = List.of(block(map));
    byte[] expected = server.outputs().expected(blocks.get(0));
    byte[] bytes = fetch(honest, server, blocks).bytes(0);
    honestReads = honestReads.plus(Comparison.of(Arrays.equals(bytes, expected)));
    assertThat(bytes).isEqualTo(expected);
  }

  void assertOnlyItsOwnConnectionEnds() throws Exception {
    assertItsConnectionEnds();
    assertThat(server.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
  }

  void assertItsConnectionEnds() throws Exception {
    hostile.awaitEnd();
    assertHonestPeerReads(1);
    assertThat(server.count(Counter.CONNECTIONS_CLOSED)).isEqualTo(1);
  }
}
