// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.serve.ServerFixture.Wanted;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.ServeSettings.Mode;
import org.sparkrdma.shuffle.wire.Located.Kind;
import org.sparkrdma.verbs.device.Capability;

/** Limits of one peer, which never affect other peers. */
class PeerShareTest {
  private static final int MAPS = 12;
  private static final long HOG = 1;
  private static final long OTHER = 2;

  @TempDir Path folder;

  private ServerFixture server(Mode mode, int slots, long budgetBytes, int leases, int percent)
      throws IOException {
    var settings =
        new ServeSettings(
            mode,
            ServerFixture.WINDOW,
            ServerFixture.SLOT,
            slots,
            ServerFixture.LEASE,
            100,
            leases,
            percent,
            ServerFixture.IDLE,
            false,
            false);
    ServerFixture on =
        ServerFixture.of(folder, settings, budgetBytes, 1000, Set.of(Capability.FILE_REGIONS));
    for (int map = 0; map < MAPS; map++) {
      on.outputs.write(1, map, new Random(map), true, ServerFixture.WINDOW, 100);
    }
    return on;
  }

  private static Wanted block(int map) {
    return Wanted.of(1, map, 0, 1);
  }

  @Test
  void shouldLimitTheLeasesOfAPeerUntilItReleasesOne() throws IOException {
    try (ServerFixture on = server(Mode.WINDOW, 0, 64L * ServerFixture.WINDOW, 3, 100)) {
      List<Long> leases = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        leases.add(on.ask(HOG, block(0)).leaseId);
      }
      assertThat(on.ask(HOG, block(0)).kinds()).containsExactly(Kind.BUSY);
      assertThat(on.count(Counter.PEERS_LIMITED)).isEqualTo(1);
      assertThat(on.ask(OTHER, block(0)).kinds()).containsExactly(Kind.LOCATED);
      assertThat(on.ask(HOG, leases.subList(0, 1), List.of(block(0))).kinds())
          .containsExactly(Kind.LOCATED);
    }
  }

  @Test
  void shouldCountExpiredLeasesUntilThePeerIsGone() throws IOException {
    try (ServerFixture on = server(Mode.WINDOW, 0, 64L * ServerFixture.WINDOW, 1, 100)) {
      long lease = on.ask(HOG, block(0)).leaseId;
      on.sleep(ServerFixture.LEASE.plusSeconds(1));
      on.release(HOG, lease);
      assertThat(on.ask(HOG, block(0)).kinds()).containsExactly(Kind.BUSY);
      on.onPeerGone(HOG);
      assertThat(on.ask(HOG, block(0)).kinds()).containsExactly(Kind.LOCATED);
    }
  }

  @Test
  void shouldLeaveHalfOfTheBudgetToOthers() throws IOException {
    try (ServerFixture on = server(Mode.WINDOW, 0, 8L * ServerFixture.WINDOW, 1000, 50)) {
      int located = 0;
      for (int map = 0; map < MAPS; map++) {
        located += on.ask(HOG, block(map)).kinds().contains(Kind.LOCATED) ? 1 : 0;
      }
      assertThat(located).isEqualTo(4);
      assertThat(on.count(Counter.PEERS_LIMITED)).isEqualTo(MAPS - 4);
      // Another lease of a window that the peer holds does not count again.
      assertThat(on.ask(HOG, block(0)).kinds()).containsExactly(Kind.LOCATED);
      for (int map = 8; map < MAPS; map++) {
        assertThat(on.ask(OTHER, block(map)).kinds()).containsExactly(Kind.LOCATED);
      }
    }
  }

  @Test
  void shouldLeaveHalfOfTheSlotsToOthers() throws IOException {
    try (ServerFixture on = server(Mode.COPY, 8, 64L * ServerFixture.WINDOW, 1000, 50)) {
      Wanted small = Wanted.of(1, 0, 1, 2);
      for (int i = 0; i < 4; i++) {
        assertThat(on.ask(HOG, small).kinds()).containsExactly(Kind.LOCATED);
      }
      assertThat(on.ask(HOG, small).kinds()).containsExactly(Kind.BUSY);
      for (int i = 0; i < 4; i++) {
        assertThat(on.ask(OTHER, small).kinds()).containsExactly(Kind.LOCATED);
      }
    }
  }

  @Test
  void shouldAlwaysServeAWindowAndASlotToAPeerThatHoldsNothing() throws IOException {
    try (ServerFixture on = server(Mode.WINDOW, 0, 2L * ServerFixture.WINDOW, 1000, 1)) {
      for (int map = 0; map < MAPS; map++) {
        var answer = on.ask(HOG, block(map));
        assertThat(answer.kinds()).containsExactly(Kind.LOCATED);
        on.release(HOG, answer.leaseId);
      }
      assertThat(on.count(Counter.PEERS_LIMITED)).isZero();
    }
  }
}
