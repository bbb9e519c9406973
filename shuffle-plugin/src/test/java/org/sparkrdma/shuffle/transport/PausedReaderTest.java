// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.metrics.Counter;

/**
 * A reader whose JVM pauses while it fetches, in virtual time: the devices go on, so that its READs
 * complete and its peers answer.
 */
@Timeout(120)
class PausedReaderTest {
  private static final int BLOCK_BYTES = 256 << 10;
  private static final int BLOCKS = 64;
  private static final int PARTS = 20;
  private static final long LIMIT_NS = Duration.ofSeconds(90).toNanos();

  private VirtualFabric fabric = new VirtualFabric();
  private final List<VirtualFetch> fetches = new ArrayList<>();
  private long firstReadNs;

  @AfterEach
  void close() {
    fabric.close();
  }

  private VirtualExecutor start(int servers, String... settings) throws Exception {
    fabric.close();
    fabric = new VirtualFabric();
    fetches.clear();
    for (int i = 0; i <= servers; i++) {
      fabric.start(BLOCK_BYTES, settings);
    }
    return fabric.executors().get(0);
  }

  /** Fetches from all others; returns the time that it took, and notes that of the first READ. */
  private long fetchAll(VirtualExecutor reader, long pauseAtNs, Duration pause) {
    fabric.at(pauseAtNs, reader::pause);
    fabric.at(pauseAtNs + pause.toNanos(), reader::resume);
    for (VirtualExecutor server : fabric.executors()) {
      if (server != reader) {
        fetches.add(new VirtualFetch(reader, server.endpoint(), 0, BLOCKS, () -> {}));
      }
    }
    assertThat(fabric.runUntil(() -> reader.maxBytesInFlight() > 0, LIMIT_NS)).isTrue();
    firstReadNs = fabric.nowNs();
    assertThat(fabric.runUntil(() -> fetches.stream().allMatch(VirtualFetch::isAnswered), LIMIT_NS))
        .isTrue();
    return fabric.nowNs();
  }

  /** More READs complete meanwhile than the agent takes at once. */
  @Test
  void shouldQuarantineNoPeerAfterAPauseLongerThanTheRequestTimeout() throws Exception {
    String[] settings = {"reads.bytes.max", "1g", "request.timeout", "5s"};
    long wholeNs = fetchAll(start(12, settings), 0, Duration.ZERO);
    for (int part = 1; part < PARTS; part++) {
      VirtualExecutor reader = start(12, settings);
      fetchAll(reader, wholeNs * part / PARTS, Duration.ofSeconds(6));
      assertThat(fetches).as("paused at part %d of %d", part, PARTS).allMatch(VirtualFetch::isRead);
      assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
      assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isZero();
    }
  }

  /** READs need nothing of the server's process, which may see no message for a long time. */
  @Test
  void shouldUseAnswersThatTakeLongerThanTheIdleTimeoutOfTheServer() throws Exception {
    String[] settings = {"idle.timeout", "100ms", "connections.max", "1"};
    long wholeNs = fetchAll(start(1, settings), 0, Duration.ZERO);
    long readsNs = firstReadNs;
    for (int part = 0; part < PARTS; part++) {
      VirtualExecutor reader = start(1, settings);
      VirtualExecutor server = fabric.executors().get(1);
      fetchAll(reader, readsNs + (wholeNs - readsNs) * part / PARTS, Duration.ofSeconds(1));
      assertThat(fetches).as("part %d of %d", part, PARTS).allMatch(VirtualFetch::isRead);
      assertThat(server.count(Counter.CONNECTIONS_CLOSED)).as("part %d", part).isZero();
      assertThat(reader.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
    }
  }

  @Test
  void shouldEndTheIdleConnectionOfAReaderThatStaysAway() throws Exception {
    VirtualExecutor reader = start(1, "idle.timeout", "100ms");
    VirtualExecutor server = fabric.executors().get(1);
    fetchAll(reader, 0, Duration.ZERO);
    fabric.run(50 * VirtualFabric.MS);
    reader.pause();

    fabric.run(100 * VirtualFabric.MS);
    assertThat(server.connections()).as("a reader ends its own idle connections first").isOne();
    fabric.run(200 * VirtualFabric.MS);
    assertThat(server.connections()).isZero();
    reader.resume();
    fabric.run(10 * VirtualFabric.MS);
    assertThat(reader.connections()).isZero();
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
  }

  /** The address was being resolved; the pause is longer than any time-out of an attempt. */
  @Test
  void shouldConnectAfterAPauseWithoutAQuarantine() throws Exception {
    VirtualExecutor reader = start(1);
    VirtualExecutor server = fabric.executors().get(1);
    VirtualFetch late = new VirtualFetch(reader, server.endpoint());
    fabric.run(VirtualFabric.SETUP_NS / 2);
    reader.pause();
    fabric.run(Duration.ofSeconds(30).toNanos());
    reader.resume();
    fabric.run(200 * VirtualFabric.MS);

    assertThat(late.isAnswered()).isTrue();
    VirtualFetch next = new VirtualFetch(reader, server.endpoint());
    fabric.run(10 * VirtualFabric.MS);
    assertThat(next.isRead()).isTrue();
    assertThat(reader.requests()).isOne();
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
  }
}
