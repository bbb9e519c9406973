// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.address.TestAddresses;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/** Peers that fail, are incompatible, or are removed, and the state that is kept of them. */
class PeerLifeTest extends LaterClockFixture {
  @Test
  void shouldNotConnectToAPeerOfAnotherEngineOrProtocol() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1));
    TestExecutor server = start(new TestExecutor.Options(2));
    Endpoint real = server.endpoint();
    for (Endpoint other : List.of(changed(real, "ibverbs", 0), changed(real, real.engine(), 1))) {
      assertThat(fetch(reader, other).reason(0)).isEqualTo(FallbackReason.INCOMPATIBLE);
    }
    assertThat(reader.count(Counter.CONNECTIONS_ESTABLISHED)).isZero();
    assertThat(server.count(Counter.CONNECTIONS_ESTABLISHED)).isZero();
    assertThat(server.count(Counter.CONNECTIONS_REFUSED)).isZero();
  }

  private static Endpoint changed(Endpoint real, String engine, int newer) {
    return new Endpoint(
        real.executorId(),
        real.addresses(),
        engine,
        real.protocol() + newer,
        real.incarnation(),
        real.token());
  }

  @Test
  void shouldTestAPeerAfterItsQuarantineWhileBlocksUseTcp() throws Exception {
    stopClock();
    TestExecutor reader = start(new TestExecutor.Options(1));
    TestExecutor server = start(new TestExecutor.Options(2));
    server.outputs().write(1, new Random(1), 1000);
    Endpoint real = server.endpoint();
    Endpoint silent = moved(real, 1);
    assertThat(fetch(reader, silent).reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
    assertThat(fetch(reader, real).reason(0)).isEqualTo(FallbackReason.QUARANTINED);
    assertThat(reader.counters().quarantined().shownIds()).isEqualTo(real.executorId());
    laterNs.addAndGet(Duration.ofSeconds(10).toNanos());
    // Its quarantine is over: this block does not wait for the connection that tests the peer.
    assertThat(fetch(reader, real).reason(0)).isEqualTo(FallbackReason.QUARANTINED);
    awaitConnection(reader);
    // Nor does this one for the request that tests the peer over that connection.
    assertThat(fetch(reader, real).reason(0)).isEqualTo(FallbackReason.QUARANTINED);
    while (!reader.counters().quarantined().shownIds().isEmpty()) {
      Thread.onSpinWait();
    }
    assertThat(fetch(reader, real).bytes(0)).hasSize(1000);
  }

  @Test
  void shouldForgetAQuarantinedPeerThatIsUnused() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).idleTimeout(Duration.ofSeconds(30)));
    TestExecutor server = start(new TestExecutor.Options(2));
    Endpoint silent = moved(server.endpoint(), 1);
    assertThat(fetch(reader, silent).reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
    assertThat(reader.counters().quarantined().shownIds()).isNotEmpty();
    laterNs.addAndGet(Duration.ofMinutes(10).toNanos());
    while (!reader.counters().quarantined().shownIds().isEmpty()) {
      Thread.onSpinWait();
    }
  }

  @Test
  void shouldKeepNoStateOfFiveThousandRemovedPeers() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).idleTimeout(Duration.ofMinutes(5)));
    TestExecutor server = start(new TestExecutor.Options(2));
    Endpoint real = server.endpoint();
    List<Integer> sizes = new ArrayList<>();
    for (int wave = 0; wave < 50; wave++) {
      for (int i = 0; i < 100; i++) {
        Endpoint gone =
            new Endpoint(
                "" + i,
                TestAddresses.listener(at(real, 1)),
                real.engine(),
                real.protocol(),
                100 + 100 * wave + i,
                real.token());
        assertThat(fetch(reader, gone).reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
      }
      sizes.add(peersOf(reader));
      laterNs.addAndGet(Duration.ofMinutes(6).toNanos());
    }
    assertThat(IntStream.range(0, 50).map(sizes::get).max().orElseThrow()).isLessThanOrEqualTo(201);
  }

  @Test
  void shouldKeepNoStateOfAPeerWhoseConnectionHasEndedAndFromWhichNoBlockWasWanted()
      throws Exception {
    TestExecutor server =
        start(
            new TestExecutor.Options(1)
                .connectTimeout(Duration.ofMinutes(1))
                .idleTimeout(Duration.ofMinutes(5)));
    try (HostilePeer peer = new HostilePeer()) {
      peer.connect(server.endpoint());
    }
    while (server.count(Counter.CONNECTIONS_CLOSED) == 0) {
      Thread.onSpinWait();
    }
    assertThat(peersOf(server)).as("its generation may still be needed").isEqualTo(1);
    laterNs.addAndGet(Duration.ofSeconds(61).toNanos());
    while (peersOf(server) > 0) {
      Thread.onSpinWait();
    }
  }

  @Test
  void shouldNotQuarantineAnExecutorInWhoseNameAnUnconfirmedConnectionFails() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1));
    TestExecutor server = start(new TestExecutor.Options(2));
    server.outputs().write(1, new Random(1), 1000);
    try (HostilePeer member = new HostilePeer()) {
      member.connectAs(server.endpoint().incarnation(), reader.endpoint());
      member.locate(BLOCKS.get(0));
      member.awaitEnd();
    }
    assertThat(fetch(reader, server.endpoint()).bytes(0)).hasSize(1000);
    assertThat(reader.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
  }

  /** Number of peers that its transport has state of, counted while its agent changes nothing. */
  private static int peersOf(TestExecutor executor) {
    CompletableFuture<Integer> counted = new CompletableFuture<>();
    executor
        .transport()
        .agent
        .execute(
            () -> {
              try {
                Peers peers = new ObjectWalk().one(executor.transport(), Peers.class);
                Set<Object> all = new ObjectWalk().from(peers);
                counted.complete((int) all.stream().filter(Peer.class::isInstance).count());
              } catch (IllegalAccessException | RuntimeException e) {
                counted.completeExceptionally(e);
              }
            });
    return counted.join();
  }
}
