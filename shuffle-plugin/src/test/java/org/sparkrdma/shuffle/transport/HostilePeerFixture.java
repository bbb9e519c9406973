// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.faults.Comparison;
import org.sparkrdma.faults.FaultBound;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;

/**
 * A server with an honest peer, which must go on, and a hostile one. Each fault from which the
 * honest peer reads is a row of the fault table.
 */
abstract class HostilePeerFixture {
  static final int MAPS = 32;
  private static final HostilityRows ROWS = new HostilityRows("hostile-peer.json");

  @TempDir private Path directory;
  final Random random = new Random(5);
  private final List<TestExecutor> executors = new ArrayList<>();
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

  void start(TestExecutor.Options options) throws Exception {
    startServer(options);
    hostile.connect(server.endpoint());
  }

  void startServer(TestExecutor.Options options) throws Exception {
    honest = executor(new TestExecutor.Options(1).requestTimeout(Duration.ofSeconds(2)));
    server = executor(options);
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

  TestExecutor executor(TestExecutor.Options options) throws Exception {
    Path own = Files.createDirectory(directory.resolve("executor-" + executors.size()));
    TestExecutor executor = new TestExecutor(own, options);
    executors.add(executor);
    return executor;
  }

  @AfterEach
  void closeAllWithoutLeaks(TestInfo test) {
    try {
      addRow(test);
    } finally {
      ROWS.end();
      try {
        hostile.close();
      } finally {
        executors.forEach(TestExecutor::close);
        // JUnit may hold this instance, and Java 17 unmaps only unreachable buffers.
        executors.clear();
      }
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
    return new BlockRange(0, map, 0, 1);
  }

  /** The honest peer reads a block by RDMA, on its first connection. */
  void assertHonestPeerReads(long map) throws Exception {
    assertBytes(map);
    assertThat(honest.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
  }

  /** The honest peer reads a block by RDMA. */
  void assertBytes(long map) throws Exception {
    List<BlockRange> blocks = List.of(block(map));
    CollectedBlocks collected = new CollectedBlocks(blocks);
    honest.transport().fetch(server.endpoint(), blocks, null, collected);
    byte[] expected = server.outputs().expected(blocks.get(0));
    byte[] bytes = collected.await().bytes(0);
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
