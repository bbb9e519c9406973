// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.HelloMessage;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionEvent;

/**
 * Set-up of connections on an engine without private data, by the first SEND of each end: until
 * both ends are proven nothing else is sent or accepted, and nothing lasts.
 */
@Timeout(60)
class HelloBySendTest extends TransportFixture {
  private static final BlockRange BLOCK = block(1, 0, 1);
  private static final Duration SHORT = Duration.ofSeconds(1);

  /** Limit of {@link TestExecutor}, which allows few connections. */
  private static final int MAX_UNCONFIRMED = 8;

  private final List<HostilePeer> peers = new ArrayList<>();
  private TestExecutor server;

  @BeforeEach
  void startServer() throws Exception {
    server = startLimited(new TestExecutor.Options(2).connectTimeout(SHORT));
    server.outputs().write(BLOCK.mapId(), random, 1_000);
  }

  @AfterEach
  void closePeers() {
    peers.forEach(HostilePeer::close);
    // JUnit may hold this instance, see TransportFixture.
    peers.clear();
  }

  private TestExecutor startLimited(TestExecutor.Options options) throws Exception {
    return start(options.limited());
  }

  private HostilePeer peer() throws VerbsException {
    peers.add(new HostilePeer(LimitedEngine.over(TestEngine.load(Map.of()))));
    return peers.get(peers.size() - 1);
  }

  private void assertHonestPeerReads() throws Exception {
    List<BlockRange> blocks = List.of(BLOCK);
    assertRight(server, blocks, fetch(startLimited(new TestExecutor.Options(1)), server, blocks));
  }

  /** Connected, without a request. */
  private HostilePeer silentPeer() throws VerbsException {
    HostilePeer peer = peer();
    assertThat(peer.connectOnly(server.endpoint(), new byte[0]))
        .isEqualTo(ConnectionEvent.Type.ESTABLISHED);
    return peer;
  }

  private static byte[] message(byte[] content) {
    ByteBuffer out = ByteBuffer.allocate(100);
    byte[] message = new byte[HelloMessage.encode(out, content)];
    out.get(0, message);
    return message;
  }

  @Test
  void shouldReadBlocksOfAPeerThatIsProvenByMessages() throws Exception {
    assertHonestPeerReads();
    assertThat(server.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
    assertThat(server.count(Counter.PROTOCOL_ERRORS)).isZero();
  }

  @Test
  void shouldBoundTheConnectionsWithoutRequestFromTheDevicesEventOn() throws Exception {
    server = startLimited(new TestExecutor.Options(3).connectTimeout(Duration.ofSeconds(50)));
    for (int i = 0; i < MAX_UNCONFIRMED; i++) {
      silentPeer();
    }
    assertThat(peer().connectOnly(server.endpoint(), new byte[0]))
        .isEqualTo(ConnectionEvent.Type.REJECTED);
    assertThat(server.count(Counter.CONNECTIONS_REFUSED)).isEqualTo(1);
  }

  @Test
  void shouldEndAConnectionThatSendsNoRequestWithinTheConnectTimeout() throws Exception {
    silentPeer().awaitEnd();
    assertThat(server.count(Counter.PROTOCOL_ERRORS)).isZero();
    assertHonestPeerReads();
  }

  @Test
  void shouldEndAConnectionWhoseFirstMessageIsNotItsRequest() throws Exception {
    HostilePeer peer = silentPeer();
    peer.locate(BLOCK);
    peer.awaitEnd();
    assertThat(server.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
    // The peer is unknown, so none is quarantined.
    assertThat(server.count(Counter.PEERS_QUARANTINED)).isZero();
    assertHonestPeerReads();
  }

  @Test
  void shouldEndAConnectionWhoseRequestIsFollowedByAnother() throws Exception {
    HostilePeer peer = peer();
    peer.connectAs(4711, server.endpoint());
    peer.send(message(new byte[Hello.LENGTH_BYTES]));
    peer.awaitEnd();
    assertThat(server.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
    assertHonestPeerReads();
  }

  @Test
  void shouldEndAnEstablishedConnectionThatSendsARequest() throws Exception {
    HostilePeer peer = peer();
    peer.connect(server.endpoint());
    peer.send(message(new byte[Hello.LENGTH_BYTES]));
    peer.awaitEnd();
    assertThat(server.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
  }

  @Test
  void shouldEndARefusedConnectionThatItsInitiatorKeeps() throws Exception {
    HostilePeer peer = peer();
    assertThat(peer.ask(server.endpoint(), new byte[Hello.LENGTH_BYTES]))
        .isEqualTo(ConnectionEvent.Type.REJECTED);
    peer.awaitEnd();
    assertThat(server.count(Counter.CONNECTIONS_REFUSED)).isEqualTo(1);
    assertThat(server.count(Counter.PROTOCOL_ERRORS)).isZero();
  }

  @Test
  void shouldTakeNothingFromARefusedPeer() throws Exception {
    HostilePeer peer = peer();
    peer.ask(server.endpoint(), new byte[Hello.LENGTH_BYTES]);
    peer.locate(BLOCK);
    peer.awaitEnd();
    assertThat(server.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
  }

  /** Result of a fetch from such a server. */
  private CollectedBlocks fetchFrom(HostileServer.Script script, TestExecutor reader)
      throws Exception {
    try (HostileServer hostile =
        new HostileServer(LimitedEngine.over(TestEngine.load(Map.of())), 7, script)) {
      return fetch(reader, hostile.endpoint(), List.of(BLOCK));
    }
  }

  /** Gives no answer to a request. */
  private interface NoAnswer extends HostileServer.Script {
    @Override
    default void onLocate(HostileServer.Question question) {
      throw new IllegalStateException("a LOCATE before the proof");
    }

    @Override
    default byte[] answer(Hello request, ConnectionBinding binding, Endpoint self) {
      return null;
    }
  }

  @Test
  void shouldGiveUpOnAServerThatDoesNotAnswerTheRequest() throws Exception {
    TestExecutor reader = startLimited(new TestExecutor.Options(1).connectTimeout(SHORT));
    assertThat(fetchFrom(new NoAnswer() {}, reader).reason(0))
        .isEqualTo(FallbackReason.CONNECT_FAILED);
    reader.awaitQuarantine();
  }

  @Test
  void shouldQuarantineAServerThatSendsSomethingElseThanTheAnswer() throws Exception {
    TestExecutor reader = startLimited(new TestExecutor.Options(1));
    NoAnswer script =
        new NoAnswer() {
          @Override
          public void onAccepted(HostileServer hostile) {
            hostile.send(HostileServer.released(1));
          }
        };
    assertThat(fetchFrom(script, reader).reason(0)).isEqualTo(FallbackReason.PROTOCOL_ERROR);
    assertThat(reader.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isEqualTo(1);
  }

  @Test
  void shouldNotTryAgainAtOnceWhenAServerDisconnectsInsteadOfAnswering() throws Exception {
    TestExecutor reader = startLimited(new TestExecutor.Options(1));
    NoAnswer script =
        new NoAnswer() {
          @Override
          public void onAccepted(HostileServer hostile) {
            hostile.disconnect();
          }
        };
    assertThat(fetchFrom(script, reader).reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isEqualTo(1);
  }
}
