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
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.wire.Located;

/** The server in virtual time, while a disk is slow: 70 cold windows at once, 430 ms each. */
@Timeout(60)
class OverloadTest {
  private static final int COLD = 70;
  private static final int WARM = 4_000;
  private static final long MS = Duration.ofMillis(1).toNanos();
  private static final long SLOW_PEER = 9;
  @TempDir Path folder;

  private List<SimulatedServer.Call> warm(SimulatedServer on) throws IOException {
    on.write(1, 4);
    for (int map = 0; map < 4; map++) {
      on.locate(0, map, 1, map);
    }
    List<SimulatedServer.Call> calls = new ArrayList<>();
    for (int i = 0; i < WARM; i++) {
      calls.add(on.locate((100 + i) * MS, i % 4, 1, i % 4));
    }
    return calls;
  }

  private List<SimulatedServer.Call> cold(SimulatedServer on) throws IOException {
    on.write(2, COLD);
    List<SimulatedServer.Call> calls = new ArrayList<>();
    for (int map = 0; map < COLD; map++) {
      calls.add(on.locate(200 * MS, SLOW_PEER, 2, map));
    }
    return calls;
  }

  private long p99Ns(boolean loaded, boolean onServersThread) throws IOException {
    try (SimulatedServer on = new SimulatedServer(folder, onServersThread)) {
      List<SimulatedServer.Call> warm = warm(on);
      List<SimulatedServer.Call> cold = loaded ? cold(on) : List.of();
      on.run();
      assertThat(cold).allMatch(call -> call.answers() == 1);
      assertThat(warm).allMatch(call -> call.kind() == Located.Kind.LOCATED || onServersThread);
      return SimulatedServer.p99Ns(warm);
    }
  }

  @Test
  void shouldNotDelayWarmRequestsOfOtherPeersWhileADiskIsSlow() throws IOException {
    assertThat(p99Ns(true, false)).isLessThanOrEqualTo(2 * p99Ns(false, false));
    // The same load on one thread, to show that the simulation detects the delay.
    assertThat(p99Ns(true, true)).isGreaterThan(1_000 * p99Ns(false, true));
  }

  @Test
  void shouldAnswerWithTcpWhenRequestsWaitTooLong() throws IOException {
    try (SimulatedServer on = new SimulatedServer(folder, false)) {
      List<SimulatedServer.Call> cold = cold(on);
      on.run();

      assertThat(cold)
          .allMatch(call -> call.latencyNs() < Duration.ofSeconds(3).toNanos())
          .anyMatch(call -> call.kind() == Located.Kind.LOCATED)
          .anyMatch(call -> call.kind() == Located.Kind.OVERLOADED);
      long refused = cold.stream().filter(c -> c.kind() == Located.Kind.OVERLOADED).count();
      assertThat(on.count(Counter.LOCATES_OVERLOADED)).isEqualTo(refused);
      assertThat(on.registrations()).isEqualTo((int) (COLD - refused));
    }
  }

  @Test
  void shouldAnswerWithTcpForTheRestOfARequestThatIsTooOld() throws IOException {
    try (SimulatedServer on = new SimulatedServer(folder, false)) {
      on.write(2, COLD);
      SimulatedServer.Call call = on.new Call(SLOW_PEER, 2, 0, COLD, 0);
      on.at(0, () -> on.server().locate(call, 0));
      on.run();

      long located = SimulatedServer.TIMEOUT.toNanos() / 2 / SimulatedServer.COLD_NS + 1;
      assertThat(call.latencyNs())
          .isLessThan(SimulatedServer.TIMEOUT.toNanos() / 2 + 2 * SimulatedServer.COLD_NS);
      assertThat(call.kinds()).hasSize(COLD);
      assertThat(call.kinds().stream().filter(Located.Kind.LOCATED::equals)).hasSize((int) located);
      assertThat(call.kinds().stream().filter(Located.Kind.OVERLOADED::equals))
          .hasSize(COLD - (int) located);
    }
  }

  @Test
  void shouldCountTheWaitBeforeARequestReachesTheServer() throws IOException {
    try (SimulatedServer on = new SimulatedServer(folder, false)) {
      on.write(1, 1);
      SimulatedServer.Call late = on.new Call(1, 1, 0, 0);
      long nowNs = on.server().maxWaitNs() + MS;
      on.at(nowNs, () -> on.server().locate(late, 0));
      SimulatedServer.Call soon = on.new Call(1, 1, 0, 0);
      on.at(nowNs, () -> on.server().locate(soon, nowNs));
      on.run();

      assertThat(late.kind()).isEqualTo(Located.Kind.OVERLOADED);
      assertThat(soon.kind()).isEqualTo(Located.Kind.LOCATED);
    }
  }

  @Test
  void shouldLocateAgainAfterTheOverload() throws IOException {
    try (SimulatedServer on = new SimulatedServer(folder, false)) {
      cold(on);
      SimulatedServer.Call later = on.locate(Duration.ofSeconds(5).toNanos(), 3, 2, COLD - 1);
      on.run();

      assertThat(later.kind()).isEqualTo(Located.Kind.LOCATED);
      assertThat(later.latencyNs()).isLessThan(2 * SimulatedServer.COLD_NS);
    }
  }

  @Test
  void shouldDropRequestsOfAConnectionThatHasEnded() throws IOException {
    try (SimulatedServer on = new SimulatedServer(folder, false)) {
      List<SimulatedServer.Call> cold = cold(on);
      on.at(
          300 * MS,
          () -> {
            cold.forEach(SimulatedServer.Call::closeConnection);
            on.server().onPeerGone(SLOW_PEER);
          });
      on.run();

      assertThat(cold).allMatch(call -> call.answers() == 1);
      assertThat(on.registrations()).as("only those in progress").isLessThan(DiskServers.THREADS);
      assertThat(on.count(Counter.LOCATES_DROPPED)).isEqualTo(COLD);
    }
  }

  @Test
  void shouldGrantNoLeaseToAPeerThatEndedWhileItsBlockWasRead() throws IOException {
    try (SimulatedServer on = new SimulatedServer(folder, false)) {
      on.write(2, 1);
      SimulatedServer.Call call = on.locate(0, SLOW_PEER, 2, 0);
      on.at(0, () -> on.server().onPeerGone(SLOW_PEER));
      boolean[] unregistered = new boolean[1];
      on.at(Duration.ofSeconds(1).toNanos(), () -> unregister(on, unregistered));
      on.run();

      assertThat(call.answers()).isEqualTo(1);
      assertThat(unregistered[0]).as("no lease is left").isTrue();
    }
  }

  private static void unregister(SimulatedServer on, boolean[] done) {
    on.server().unregisterShuffle(2, () -> done[0] = true);
  }

  @Test
  void shouldReleaseLeasesBeforeItLocatesEarlierRequests() throws IOException {
    try (SimulatedServer on = new SimulatedServer(folder, true)) {
      on.write(2, 2);
      SimulatedServer.Call first = on.locate(0, SLOW_PEER, 2, 0);
      List<Integer> answersWhenReleased = new ArrayList<>();
      SimulatedServer.Call[] second = new SimulatedServer.Call[1];
      on.at(
          Duration.ofSeconds(1).toNanos(),
          () -> {
            second[0] = on.new Call(SLOW_PEER, 2, 1, 0);
            on.server().locate(second[0]);
            on.server()
                .release(
                    SLOW_PEER, new long[0], () -> answersWhenReleased.add(second[0].answers()));
          });
      on.run();

      assertThat(first.answers()).isEqualTo(1);
      assertThat(second[0].answers()).isEqualTo(1);
      assertThat(answersWhenReleased).containsExactly(0);
    }
  }

  @Test
  void shouldEndTheLeasesOfALostPeerBeforeItLocatesEarlierRequests() throws IOException {
    try (SimulatedServer on = SimulatedServer.copyingOnServersThread(folder, 1)) {
      on.write(1, 1);
      SimulatedServer.Call lost = on.locate(0, SLOW_PEER, 1, 0);
      SimulatedServer.Call before = on.locate(MS, 3, 1, 0);
      SimulatedServer.Call[] earlier = new SimulatedServer.Call[1];
      on.at(
          2 * MS,
          () -> {
            earlier[0] = on.new Call(3, 1, 0, 2 * MS);
            on.server().locate(earlier[0]);
            on.server().onPeerGone(SLOW_PEER);
          });
      on.run();

      assertThat(lost.kind()).isEqualTo(Located.Kind.LOCATED);
      assertThat(before.kind()).as("the lost peer has the only slot").isEqualTo(Located.Kind.BUSY);
      assertThat(earlier[0].kind()).isEqualTo(Located.Kind.LOCATED);
    }
  }
}
