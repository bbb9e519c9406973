// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Hello;

/** Attempts to connect to peers that answer late or never. */
class ConnectionAttemptsTest extends LaterClockFixture {
  /** The number of an executor. */
  private static final int MAX_ATTEMPTS = 32;

  /** The scripted server answers that it has no such block. */
  private void assertAnswersOverAConnection(TestExecutor reader, Endpoint server) throws Exception {
    awaitConnection(reader);
    assertThat(fetch(reader, server).reason(0)).isEqualTo(FallbackReason.PEER_UNKNOWN_BLOCK);
  }

  /** Starts a fetch from a silent peer; returns when the peer has the connection request. */
  private static CollectedBlocks attempt(TestExecutor reader, HostileServer silent) {
    CollectedBlocks collected = startFetch(reader, silent.endpoint());
    awaitRequests(silent, 1);
    return collected;
  }

  @Test
  void shouldGoOnWithASlowAttemptWhileBlocksUseTcp() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1));
    try (HostileServer slow = new HostileServer(7, new Silent())) {
      CollectedBlocks first = attempt(reader, slow);
      laterNs.addAndGet(Duration.ofSeconds(6).toNanos());
      assertThat(first.await().reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
      assertThat(fetch(reader, slow.endpoint()).reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
      slow.acceptHeld();
      assertAnswersOverAConnection(reader, slow.endpoint());
      assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
    }
  }

  @Test
  void shouldEndAnAttemptAfterThreeTimesTheConnectTimeoutAndQuarantineThePeer() throws Exception {
    stopClock();
    TestExecutor reader = start(new TestExecutor.Options(1));
    try (HostileServer silent = new HostileServer(7, new Silent())) {
      CollectedBlocks first = attempt(reader, silent);
      pass(reader, Duration.ofSeconds(9));
      assertThat(first.await().reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
      assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
      pass(reader, Duration.ofSeconds(7));
      reader.awaitQuarantine();
    }
  }

  @Test
  void shouldGiveUpASilentPeerForOneWithBlocksWhenNoMoreAttemptsAreAllowed() throws Exception {
    stopClock();
    TestExecutor reader = start(new TestExecutor.Options(1).maxAttempts(1));
    try (HostileServer one = new HostileServer(7, new Silent());
        HostileServer two = new HostileServer(8, new Silent())) {
      CollectedBlocks ofOne = attempt(reader, one);
      CollectedBlocks ofTwo = startFetch(reader, two.endpoint());
      assertThat(connections(reader)).as("when the fetch has begun").isEqualTo(1);
      assertThat(connections(reader)).as("a turn later").isEqualTo(1);

      pass(reader, Duration.ofSeconds(6));
      awaitRequests(two, 1);
      assertThat(connections(reader)).as("after the connect time-out").isEqualTo(1);
      assertThat(ofOne.await().reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
      assertThat(ofTwo.await().reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
      assertThat(reader.count(Counter.PEERS_QUARANTINED)).as("only the first").isEqualTo(1);
      two.acceptHeld();
      assertAnswersOverAConnection(reader, two.endpoint());
    }
  }

  /** Peers that are well cannot answer an executor that does not run. */
  @Test
  void shouldNotGiveUpAttemptsForATimeInWhichTheAgentDidNotRun() throws Exception {
    stopClock();
    TestExecutor reader = start(new TestExecutor.Options(1).maxAttempts(1));
    try (HostileServer one = new HostileServer(7, new Silent());
        HostileServer two = new HostileServer(8, new Silent())) {
      CollectedBlocks ofOne = attempt(reader, one);
      pass(reader, Duration.ofSeconds(1));
      CollectedBlocks ofTwo = startFetch(reader, two.endpoint());
      assertThat(connections(reader)).isEqualTo(1);

      laterNs.addAndGet(Duration.ofSeconds(60).toNanos());

      assertThat(ofOne.await().reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
      assertThat(ofTwo.await().reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
      pass(reader, Duration.ofSeconds(1));
      assertThat(connections(reader)).as("the same attempt").isEqualTo(1);
      assertThat(two.heldRequests()).isZero();
      assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
      one.acceptHeld();
      assertAnswersOverAConnection(reader, one.endpoint());
    }
  }

  /** The limit without private data is shorter, and begins with the request. */
  @Test
  void shouldNotEndAConnectedAttemptForATimeInWhichTheAgentDidNotRun() throws Exception {
    stopClock();
    TestExecutor reader = start(new TestExecutor.Options(1).limited());
    HostileServer.Script withoutAnswer =
        new Silent() {
          @Override
          public boolean accepts() {
            return true;
          }

          @Override
          public byte[] answer(Hello request, ConnectionBinding binding, Endpoint self) {
            return null;
          }
        };
    try (HostileServer silent =
        new HostileServer(LimitedEngine.over(TestEngine.load(Map.of())), 7, withoutAnswer)) {
      startFetch(reader, silent.endpoint());
      while (silent.connectionRequests() == 0) {
        Thread.onSpinWait();
      }
      laterNs.addAndGet(Duration.ofSeconds(60).toNanos());
      pass(reader, Duration.ofSeconds(1));
      assertThat(connections(reader)).isEqualTo(1);
      assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
      pass(reader, Duration.ofSeconds(5));
      reader.awaitQuarantine();
    }
  }

  @Test
  void shouldEndAnAttemptInTimeAfterAPauseOfTheAgent() throws Exception {
    stopClock();
    TestExecutor reader = start(new TestExecutor.Options(1));
    try (HostileServer silent = new HostileServer(7, new Silent())) {
      attempt(reader, silent);
      pass(reader, Duration.ofSeconds(2));
      laterNs.addAndGet(Duration.ofSeconds(60).toNanos());
      pass(reader, Duration.ofSeconds(2));
      assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
      pass(reader, Duration.ofSeconds(12));
      reader.awaitQuarantine();
    }
  }

  @Test
  void shouldConnectToAPeerWithinItsTimeoutAlthoughMoreOthersAreSilentThanMayBeAttempted()
      throws Exception {
    stopClock();
    int silentPeers = MAX_ATTEMPTS + 8;
    TestExecutor reader =
        start(new TestExecutor.Options(1).maxConnections(64).maxAttempts(MAX_ATTEMPTS));
    TestExecutor healthy = start(new TestExecutor.Options(2));
    healthy.outputs().write(1, new Random(1), 1000);
    try (HostileServer silent = new HostileServer(7, new Silent())) {
      List<CollectedBlocks> ofSilent = new ArrayList<>();
      for (int i = 0; i < silentPeers; i++) {
        ofSilent.add(startFetch(reader, named(silent.endpoint(), 100 + i)));
      }
      awaitRequests(silent, MAX_ATTEMPTS);
      pass(reader, Duration.ofSeconds(4));
      CollectedBlocks ofHealthy = startFetch(reader, healthy.endpoint());
      assertThat(connections(reader)).isEqualTo(MAX_ATTEMPTS);
      pass(reader, Duration.ofSeconds(2));

      assertThat(ofHealthy.await().bytes(0)).hasSize(1000);
      assertThat(connections(reader)).as("the attempts, and a connection").isEqualTo(MAX_ATTEMPTS);
      for (CollectedBlocks collected : ofSilent) {
        assertThat(collected.await().reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
      }
      assertThat(reader.count(Counter.PEERS_QUARANTINED))
          .as("at most as many as others waited")
          .isBetween(1L, silentPeers - MAX_ATTEMPTS + 1L);
    }
  }

  @Test
  void shouldTestPeersThatFailedByHalfOfTheAttemptsOnly() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).maxAttempts(2));
    TestExecutor healthy = start(new TestExecutor.Options(2));
    healthy.outputs().write(1, new Random(1), 1000);
    try (HostileServer silent = new HostileServer(7, new Silent())) {
      Endpoint one = named(silent.endpoint(), 100);
      Endpoint two = named(silent.endpoint(), 101);
      for (Endpoint failing : List.of(moved(one, 1), moved(two, 1))) {
        assertThat(fetch(reader, failing).reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
      }
      laterNs.addAndGet(Duration.ofSeconds(10).toNanos());
      for (Endpoint tested : List.of(one, two)) {
        assertThat(fetch(reader, tested).reason(0)).isEqualTo(FallbackReason.QUARANTINED);
      }
      awaitRequests(silent, 1);

      assertThat(fetch(reader, healthy.endpoint()).bytes(0)).hasSize(1000);
      assertThat(silent.heldRequests()).isEqualTo(1);
    }
  }

  /** The same listener as that of another executor. */
  private static Endpoint named(Endpoint real, long incarnation) {
    return new Endpoint(
        Long.toString(incarnation),
        real.addresses(),
        real.engine(),
        real.protocol(),
        incarnation,
        real.token());
  }
}
