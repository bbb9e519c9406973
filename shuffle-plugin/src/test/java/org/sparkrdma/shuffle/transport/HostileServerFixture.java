// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.faults.Comparison;
import org.sparkrdma.faults.FaultBound;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * A reader that fetches from a hostile server, and then from an honest one. Each fetch is a row of
 * the fault table, unless a test says otherwise.
 */
abstract class HostileServerFixture {
  static final int LENGTH = HostileServer.PERIOD;
  private static final HostilityRows ROWS = new HostilityRows("hostile-server.json");

  @TempDir private Path directory;
  TestExecutor reader;
  HostileServer server;
  CollectedBlocks fetched;
  private long fetchNs;

  /** Bound of the time of the fetch. */
  int boundSeconds = FaultBound.BRIEF;

  @BeforeEach
  void startAReader() throws Exception {
    ROWS.begin();
    reader =
        new TestExecutor(
            directory, new TestExecutor.Options(1).requestTimeout(Duration.ofSeconds(2)));
  }

  @AfterEach
  void closeWithoutLeaks(TestInfo test) throws Exception {
    try {
      addRow(test);
    } finally {
      ROWS.end();
      try {
        reader.close();
      } finally {
        if (server != null) {
          server.close();
        }
      }
    }
  }

  private void addRow(TestInfo test) throws Exception {
    if (fetched != null) {
      Map<String, Long> counters = reader.counters().snapshot();
      ROWS.add(
          test,
          boundSeconds,
          Math.max(server.locates(), server.connectionRequests()),
          fetched.compareRead(HostileServerFixture::isContent),
          readFromAnHonestServer(),
          fetchNs / 1e9,
          fetched.reasons(),
          counters);
    }
  }

  @AfterAll
  static void writeRows() throws IOException {
    ROWS.write();
  }

  /** The same reader goes on: compares a block of another server. */
  private Comparison readFromAnHonestServer() throws Exception {
    Path own = Files.createDirectory(directory.resolve("honest"));
    try (TestExecutor honest = new TestExecutor(own, new TestExecutor.Options(3))) {
      honest.outputs().write(0, new Random(8), LENGTH);
      BlockRange block = new BlockRange(0, 0, 0, 1);
      CollectedBlocks collected = new CollectedBlocks(List.of(block));
      FetchHandler.fetch(reader.transport(), honest.endpoint(), List.of(block), collected);
      byte[] expected = honest.outputs().expected(block);
      return collected.await().compareRead(bytes -> Arrays.equals(bytes, expected));
    }
  }

  /** Whether a block has the bytes of the server. */
  private static boolean isContent(byte[] block) {
    boolean same = true;
    for (int i = 0; i < block.length; i++) {
      same &= block[i] == HostileServer.contentAt(i);
    }
    return same;
  }

  CollectedBlocks fetch(int blocks, Consumer<HostileServer.Question> script) throws Exception {
    return fetchFrom(blocks, script::accept);
  }

  CollectedBlocks fetchFrom(int blocks, HostileServer.Script script) throws Exception {
    server = new HostileServer(2, script);
    List<BlockRange> wanted =
        LongStream.range(0, blocks).mapToObj(map -> new BlockRange(0, map, 0, 1)).toList();
    CollectedBlocks collected = new CollectedBlocks(wanted);
    long beginNs = System.nanoTime();
    FetchHandler.fetch(reader.transport(), server.endpoint(), wanted, collected);
    fetched = collected.await();
    fetchNs = System.nanoTime() - beginNs;
    return fetched;
  }

  /** Waits until the reader has ended its connection; the test's time limit bounds it. */
  void awaitEndOfConnection() {
    while (reader.count(Counter.CONNECTIONS_CLOSED) == 0) {
      Thread.onSpinWait();
    }
  }

  void assertProtocolError(CollectedBlocks collected, int blocks) {
    assertThat(reader.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isEqualTo(1);
    for (int i = 0; i < blocks; i++) {
      assertThat(collected.reason(i)).isEqualTo(FallbackReason.QUARANTINED);
    }
  }
}
