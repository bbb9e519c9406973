// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.wire.Located;

/**
 * Peers that share the one disk of a server in virtual time. All blocks are copied, so each needs a
 * thread of the disk: for 430 ms when the page cache does not have it, else for no time.
 */
@Timeout(60)
class SharedDiskTest {
  private static final int CACHED = 1;
  private static final int COLD = 2;
  private static final long MS = Duration.ofMillis(1).toNanos();
  private static final long COLD_PEER = 9;
  private static final int BURST = 60;
  private static final int STREAM = 40;
  private static final int WARM = 1_500;
  private static final int LOCATES = 15;
  private static final int ROUNDS = 2;

  @TempDir Path folder;

  private static List<SimulatedServer.Call> warm(SimulatedServer on) throws IOException {
    on.write(CACHED, 4);
    List<SimulatedServer.Call> calls = new ArrayList<>();
    for (int i = 0; i < WARM; i++) {
      calls.add(on.locate((100 + 3 * i) * MS, i % 4, CACHED, i % 4));
    }
    return calls;
  }

  /** Many LOCATEs of one peer at once, then one each 100 ms. */
  private static List<SimulatedServer.Call> cold(SimulatedServer on) throws IOException {
    on.write(COLD, BURST + STREAM);
    List<SimulatedServer.Call> calls = new ArrayList<>();
    for (int map = 0; map < BURST + STREAM; map++) {
      long laterMs = Math.max(0, map - BURST) * 100L;
      calls.add(on.locate((200 + laterMs) * MS, COLD_PEER, COLD, map));
    }
    return calls;
  }

  /** LOCATEs of several peers at once, and those of each peer again each two seconds. */
  private static List<SimulatedServer.Call> coldOf(int peers, SimulatedServer on)
      throws IOException {
    on.write(COLD, ROUNDS * peers * LOCATES);
    List<SimulatedServer.Call> calls = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      for (int peer = 0; peer < peers; peer++) {
        for (int i = 0; i < LOCATES; i++) {
          long atNs = (200 + 2_000 * round) * MS;
          calls.add(on.locate(atNs, COLD_PEER + peer, COLD, calls.size()));
        }
      }
    }
    return calls;
  }

  /** The load on the disk beside the cached blocks. */
  private interface Load {
    List<SimulatedServer.Call> on(SimulatedServer server) throws IOException;
  }

  private long warmP99Ns(Load load) throws IOException {
    try (SimulatedServer on = SimulatedServer.copying(folder)) {
      List<SimulatedServer.Call> warm = warm(on);
      List<SimulatedServer.Call> cold = load.on(on);
      on.run();
      assertThat(cold).allMatch(call -> call.answers() == 1);
      assertThat(warm).extracting(SimulatedServer.Call::kind).containsOnly(Located.Kind.LOCATED);
      return SimulatedServer.p99Ns(warm);
    }
  }

  @Test
  void shouldNotDelayCachedBlocksOfOtherPeersWhileOnePeerWaitsForTheDisk() throws IOException {
    assertThat(warmP99Ns(SharedDiskTest::cold)).isLessThanOrEqualTo(2 * warmP99Ns(on -> List.of()));
  }

  @Test
  void shouldNotDelayCachedBlocksOfOtherPeersWhileFourPeersWaitForTheDisk() throws IOException {
    assertThat(warmP99Ns(on -> coldOf(4, on))).isLessThanOrEqualTo(2 * warmP99Ns(on -> List.of()));
  }

  @Test
  void shouldNotDelayCachedBlocksOfOtherPeersWhileTwelvePeersWaitForTheDisk() throws IOException {
    assertThat(warmP99Ns(on -> coldOf(12, on))).isLessThanOrEqualTo(2 * warmP99Ns(on -> List.of()));
  }

  @Test
  void shouldLocateColdBlocksOfEachPeerInTurn() throws IOException {
    try (SimulatedServer on = SimulatedServer.copying(folder)) {
      on.write(COLD, BURST + 6);
      List<SimulatedServer.Call> first = new ArrayList<>();
      for (int map = 0; map < BURST; map++) {
        first.add(on.locate(200 * MS, COLD_PEER, COLD, map));
      }
      List<SimulatedServer.Call> later = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        later.add(on.locate(201 * MS, COLD_PEER + 1 + i % 2, COLD, BURST + i));
      }
      on.run();

      assertThat(later).extracting(SimulatedServer.Call::kind).containsOnly(Located.Kind.LOCATED);
      assertThat(later)
          .as("three turns, of which each may wait for one read in progress")
          .extracting(SimulatedServer.Call::latencyNs)
          .allMatch(ns -> ns < 6 * SimulatedServer.COLD_NS);
      assertThat(first).extracting(SimulatedServer.Call::kind).contains(Located.Kind.LOCATED);
    }
  }
}
