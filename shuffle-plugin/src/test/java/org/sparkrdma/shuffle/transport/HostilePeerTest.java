// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.faults.FaultBound;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.verbs.cm.ConnectionEvent;

/**
 * Effects of a proven hostile peer on a server: it loses its own connection, and nothing else
 * happens.
 */
@Timeout(60)
class HostilePeerTest extends HostilePeerFixture {
  private static final int MESSAGE_BYTES = 16 << 10;
  private static final int READ_BYTES = 1_000;
  private static final byte[] RETURN = {7, 0, 0, 0};

  /** LOCATEs that a peer of {@link TestExecutor} may have open. */
  private static final int MAX_LOCATES = 4;

  /** These and a RELEASE. */
  private static final int OPEN_REQUESTS = MAX_LOCATES + 1;

  @Test
  void shouldEndTheConnectionOfAPeerWithTooManyOpenRequests() throws Exception {
    startAndConnect(new TestExecutor.Options(2));
    assumeFalse(
        hostile.isOnIwarp(), "there the first answer without a receive ends the connection");
    // It receives no answers, so that their buffers stay used and later requests stay open.
    for (int i = 0; i <= 2 * OPEN_REQUESTS; i++) {
      hostile.locate(block(i));
    }
    assertOnlyItsOwnConnectionEnds();
  }

  @Test
  void shouldEndTheConnectionOfAPeerThatUsesMoreCreditsThanItHas() throws Exception {
    startAndConnect(new TestExecutor.Options(2));
    CountDownLatch goOn = server.outputs().blockUntil(3);
    try {
      hostile.locateAndReceive(block(3));
      hostile.locateAndReceive(block(0));
      hostile.awaitEnd();
    } finally {
      goOn.countDown();
    }
    assertOnlyItsOwnConnectionEnds();
  }

  @Test
  void shouldEndTheConnectionOfAPeerThatReturnsACreditItWasNotGranted() throws Exception {
    startAndConnect(new TestExecutor.Options(2));
    hostile.send(RETURN);
    assertOnlyItsOwnConnectionEnds();
  }

  @Test
  void shouldEndTheConnectionOfAPeerThatReturnsMoreCreditsThanItWasGranted() throws Exception {
    startAndConnect(new TestExecutor.Options(2));
    assertThat(hostile.askForCredits()).isEqualTo(MAX_LOCATES - 1);
    for (int i = 0; i < MAX_LOCATES; i++) {
      hostile.send(RETURN);
    }
    assertOnlyItsOwnConnectionEnds();
  }

  @Test
  void shouldGrantAPeerThatReturnsNoCreditsNoMoreThanRequestsMayBeOpen() throws Exception {
    startAndConnect(new TestExecutor.Options(2));
    assertThat(hostile.askForCredits()).isEqualTo(MAX_LOCATES - 1);
    for (int map = 1; map < MAPS; map++) {
      assertThat(hostile.askForCredits()).isZero();
    }
    assertHonestPeerReads(0);
  }

  @Test
  void shouldGrantCreditsAgainToAPeerThatHasReturnedThem() throws Exception {
    startAndConnect(new TestExecutor.Options(2));
    for (int round = 0; round < 3; round++) {
      assertThat(hostile.askForCredits()).isEqualTo(MAX_LOCATES - 1);
      for (int i = 1; i < MAX_LOCATES; i++) {
        hostile.send(RETURN);
      }
    }
    assertHonestPeerReads(0);
  }

  @Test
  void shouldKeepAConnectionThatWaitsForADiskWhenItMakesRoomForOthers() throws Exception {
    startServer(new TestExecutor.Options(2).maxConnections(2));
    try (HostilePeer idle = new HostilePeer();
        HostilePeer last = new HostilePeer()) {
      hostile.connect(server.endpoint());
      CountDownLatch goOn = server.outputs().blockUntil(3);
      try {
        hostile.locateAndReceive(block(3));
        idle.connect(server.endpoint(), 100);
        last.connect(server.endpoint(), 101);
        idle.awaitEnd();
      } finally {
        goOn.countDown();
      }
      hostile.awaitAnswer();
    }
    assertBytes(0);
  }

  @Test
  void shouldEndTheConnectionOfAPeerWhoseMessageIsLongerThanTheBuffer() throws Exception {
    startAndConnect(new TestExecutor.Options(2));
    hostile.send(new byte[MESSAGE_BYTES + 1]);
    assertOnlyItsOwnConnectionEnds();
  }

  @Test
  void shouldCountAMalformedLocateOnce() throws Exception {
    startAndConnect(new TestExecutor.Options(2));
    byte[] withoutBlocks = new byte[16];
    withoutBlocks[0] = 1;
    hostile.send(withoutBlocks);
    assertOnlyItsOwnConnectionEnds();
  }

  @Test
  void shouldEndTheConnectionOfAPeerThatSendsInvalidMessages() throws Exception {
    startAndConnect(new TestExecutor.Options(2));
    byte[] nonsense = new byte[100];
    random.nextBytes(nonsense);
    hostile.send(nonsense);
    assertOnlyItsOwnConnectionEnds();
  }

  @Test
  void shouldAnswerBusyToAPeerThatKeepsAllItsLeases() throws Exception {
    startAndConnect(new TestExecutor.Options(2).peerLeases(8));
    for (int i = 0; i < 8; i++) {
      assertThat(hostile.hoard(block(0))).isEqualTo(Located.Kind.LOCATED);
    }
    assertThat(hostile.hoard(block(0))).isEqualTo(Located.Kind.BUSY);
    assertThat(server.count(Counter.PEERS_LIMITED)).isEqualTo(1);
    assertHonestPeerReads(0);
  }

  @Test
  void shouldServeOthersAgainWhenAPeerThatKeepsWindowsIsGone() throws Exception {
    startAndConnect(
        new TestExecutor.Options(2).mode(ServeSettings.Mode.WINDOW).pinned(4L << 20, 1 << 20));
    assertOthersAreServedAfter(hoardedMaps());
  }

  @Test
  void shouldServeOthersAgainWhenAPeerThatKeepsSlotsIsGone() throws Exception {
    startAndConnect(new TestExecutor.Options(2).mode(ServeSettings.Mode.COPY));
    assertOthersAreServedAfter(hoardedMaps());
  }

  /** Number of blocks located for it when it releases nothing. */
  private int hoardedMaps() {
    int located = 0;
    for (int map = 0; map < MAPS; map++) {
      located += hostile.hoard(block(map)) == Located.Kind.LOCATED ? 1 : 0;
    }
    return located;
  }

  /** Others share its windows, and use TCP for the rest until its connection ends. */
  private void assertOthersAreServedAfter(int hoarded) throws Exception {
    assertThat(hoarded).isBetween(1, MAPS);
    assertHonestPeerReads(0);
    if (hoarded < MAPS) {
      CollectedBlocks refused = fetch(honest, server, List.of(block(MAPS - 1)));
      assertThat(refused.reason(0)).isEqualTo(FallbackReason.PEER_BUSY);
    }
    hostile.disconnect();
    while (server.count(Counter.CONNECTIONS_CLOSED) == 0) {
      Thread.onSpinWait();
    }
    for (int map = 0; map < MAPS; map++) {
      assertHonestPeerReads(map);
    }
  }

  @Test
  void shouldEndTheConnectionOfAPeerThatKeepsALeaseTooLong() throws Exception {
    boundSeconds = FaultBound.OF_A_TIMEOUT;
    startAndConnect(new TestExecutor.Options(2).lease(Duration.ofMillis(3_500)));
    assertThat(hostile.hoard(block(3))).isEqualTo(Located.Kind.LOCATED);
    hostile.awaitEnd();
    // The server counts after it has ended the connection.
    while (server.count(Counter.LEASES_EXPIRED) == 0) {
      Thread.onSpinWait();
    }
    assertThat(server.count(Counter.LEASES_EXPIRED)).isEqualTo(1);
    assertHonestPeerReads(3);
  }

  @Test
  void shouldEndTheConnectionOfAPeerThatNeverReceivesItsAnswer() throws Exception {
    boundSeconds = FaultBound.OF_A_TIMEOUT;
    startAndConnect(new TestExecutor.Options(2).lease(Duration.ofMillis(3_500)));
    // Without a receive the answer waits at the server, or ends the connection.
    hostile.locate(block(3));
    assertItsConnectionEnds();
    assertThat(server.count(Counter.PROTOCOL_ERRORS)).isZero();
  }

  @Test
  void shouldEndTheConnectionOfAPeerThatNeverSends() throws Exception {
    boundSeconds = FaultBound.OF_A_WAIT;
    startServer(new TestExecutor.Options(2).connectTimeout(Duration.ofSeconds(1)));
    hostile.connectAs(4711, server.endpoint());
    hostile.awaitEnd();
    assertHonestPeerReads(1);
    assertThat(server.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
    assertThat(server.count(Counter.CONNECTIONS_CLOSED)).isZero();
  }

  @Test
  void shouldAcceptAnExecutorWhoseIncarnationAnotherExecutorClaims() throws Exception {
    server = start(2);
    server.outputs().write(0, random, 200_000, 1_000);
    beginFault();
    List<HostilePeer> claiming = new ArrayList<>();
    try {
      for (int i = 0; i < 3; i++) {
        claiming.add(new HostilePeer());
        // The last one does not even confirm.
        if (i < 2) {
          claiming.get(i).connect(server.endpoint(), 1);
        } else {
          claiming.get(i).connectAs(1, server.endpoint());
        }
      }
      honest = start(1);
      assertHonestPeerReads(0);
    } finally {
      claiming.forEach(HostilePeer::close);
    }
  }

  @Test
  void shouldKeepTheConnectionOfAnExecutorWhoseIncarnationIsClaimedWithoutConfirming()
      throws Exception {
    boundSeconds = FaultBound.OF_A_WAIT;
    startServer(new TestExecutor.Options(2).connectTimeout(Duration.ofSeconds(1)));
    hostile.connectAs(1, server.endpoint());
    hostile.awaitEnd();
    assertHonestPeerReads(1);
    assertThat(server.count(Counter.CONNECTIONS_CLOSED)).isZero();
  }

  @Test
  void shouldEndAConnectionWhoseFirstMessageIsNoConfirm() throws Exception {
    startServer(new TestExecutor.Options(2));
    hostile.connectAs(4711, server.endpoint());
    hostile.locate(block(0));
    hostile.awaitEnd();
    assertThat(server.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
    assertHonestPeerReads(1);
  }

  @Test
  void shouldGrantNoAccessToAPeerThatHasNotConfirmed() throws Exception {
    startAndConnect(new TestExecutor.Options(2).mode(ServeSettings.Mode.WINDOW));
    assumeTrue(hostile.isAccessWithheld(), "there the device cannot withhold access");
    Located.Decoder located = hostile.locateAndAwait(block(0));
    try (HostilePeer unconfirmed = new HostilePeer()) {
      unconfirmed.connectAs(4712, server.endpoint());
      // Its own answer comes before the engine has taken the kernel's access flags back; this one
      // after.
      hostile.locateAndAwait(block(1));
      assertThat(unconfirmed.read(located.address(), (int) located.remoteKey(), READ_BYTES))
          .isFalse();
    }
    assertThat(hostile.read(located.address(), (int) located.remoteKey(), READ_BYTES)).isTrue();
    assertHonestPeerReads(1);
  }

  @Test
  void shouldServeOthersWhenMorePeersComeThanMay() throws Exception {
    startServer(new TestExecutor.Options(2).maxConnections(2));
    List<HostilePeer> many = new ArrayList<>();
    try {
      for (int peer = 0; peer < 4; peer++) {
        many.add(new HostilePeer());
        many.get(peer).connect(server.endpoint(), 100 + peer);
      }
      for (int map = 0; map < MAPS; map++) {
        assertBytes(map);
      }
      // The first two were closed: for the third, and for the fourth or the honest one.
      many.get(0).awaitEnd();
      many.get(1).awaitEnd();
    } finally {
      many.forEach(HostilePeer::close);
    }
  }

  @Test
  void shouldRefuseReadsOfAStrangerWithAddressAndKey() throws Exception {
    startAndConnect(new TestExecutor.Options(2).mode(ServeSettings.Mode.WINDOW));
    Located.Decoder piece = hostile.locateAndAwait(block(0));
    assertThat(piece.kind()).isEqualTo(Located.Kind.LOCATED);
    try (HostilePeer refused = new HostilePeer();
        HostilePeer ofAnotherApplication = new HostilePeer()) {
      assertThat(refused.ask(server.endpoint(), new byte[Hello.LENGTH_BYTES]))
          .isEqualTo(ConnectionEvent.Type.REJECTED);
      if (refused.isKeptOut()) {
        assertThat(refused.read(piece.address(), (int) piece.remoteKey(), READ_BYTES)).isFalse();
      }

      ofAnotherApplication.connect(start(3).endpoint());
      assertThat(ofAnotherApplication.read(piece.address(), (int) piece.remoteKey(), READ_BYTES))
          .isFalse();
    }
    assertThat(hostile.read(piece.address(), (int) piece.remoteKey(), READ_BYTES))
        .as("the key is right for a proven peer")
        .isTrue();
    assertHonestPeerReads(0);
  }
}
