// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.api.Named.named;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.Endpoints;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.pinned.MemoryShares;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.transport.TestExecutor.Options;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.Messages;
import org.sparkrdma.shuffle.wire.Release;
import org.sparkrdma.shuffle.wire.SetupMessages;
import org.sparkrdma.shuffle.wire.SetupMessages.Refusal;

/**
 * Effects on a server of strangers, and of executors of the application that break the protocol:
 * they get nothing or lose their own connection, and an honest reader reads as before.
 */
@Tag("slow")
@Timeout(60)
class HostilePeerTest extends TransportFixture {
  private static final int MAPS = 32;
  private static final byte[] NO_SECRET = {};
  private static final Duration BRIEF = Duration.ofSeconds(1);

  private TestExecutor server;
  private TestExecutor honest;
  private BarePeer peer;
  private final List<BarePeer> others = new ArrayList<>();

  @BeforeEach
  void openADevice() throws Exception {
    peer = new BarePeer(9);
  }

  /** One more peer. */
  private BarePeer another() throws Exception {
    BarePeer opened = new BarePeer(100 + others.size());
    others.add(opened);
    return opened;
  }

  private void start() throws Exception {
    startServer(new Options(2));
  }

  /** Starts a server, and a reader that has a connection. */
  private void startServer(Options options) throws Exception {
    honest = start(new Options(1).requestTimeout(Duration.ofSeconds(2)));
    server = start(options);
    for (int map = 0; map < MAPS; map++) {
      server.outputs().write(map, random, 200_000, 1_000);
    }
    assertHonestPeerReads(0);
  }

  private void startAndProve(Options options) throws Exception {
    startServer(options);
    peer.prove(server.endpoint());
  }

  @AfterEach
  void closeThePeer() {
    others.forEach(BarePeer::close);
    peer.close();
    if (server != null) {
      assertThat(server.losses()).isEmpty();
    }
    // As in the fixture, JUnit may hold this instance.
    others.clear();
    peer = null;
    server = null;
    honest = null;
  }

  private static BlockRange block(long map) {
    return block(map, 0, 1);
  }

  /** The honest reader reads a block by RDMA, on its first connection. */
  private void assertHonestPeerReads(long map) throws Exception {
    assertReads(honest, map);
    assertThat(honest.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
  }

  private void assertReads(TestExecutor reader, long map) throws Exception {
    List<BlockRange> blocks = List.of(block(map));
    byte[] expected = server.outputs().expected(blocks.get(0));
    byte[] bytes = fetch(reader, server, blocks).bytes(0);
    assertThat(bytes).isEqualTo(expected);
  }

  private void assertOnlyItsOwnConnectionEnds() throws Exception {
    peer.awaitEnd();
    assertHonestPeerReads(1);
    assertThat(server.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
  }

  private void assertRefused(Refusal reason) throws Exception {
    byte[] answer = peer.awaitMessage();
    assertThat(answer[0]).isEqualTo((byte) Messages.REFUSAL);
    assertThat(SetupMessages.refusal(ByteBuffer.wrap(answer))).isEqualTo(reason);
    assertThat(server.count(Counter.CONNECTIONS_REFUSED)).isEqualTo(1);
    assertHonestPeerReads(1);
  }

  private void connect() throws Exception {
    assertThat(peer.connect(server.endpoint())).isTrue();
  }

  // Strangers.

  /** A message to a server. */
  private interface Message {
    byte[] of(BarePeer peer, Endpoint server) throws Exception;
  }

  private static Arguments refused(Refusal reason, String name, Message message) {
    return arguments(reason, named(name, message));
  }

  private static Stream<Arguments> refusedRequests() {
    InetSocketAddress other = new InetSocketAddress("192.0.2.1", 1);
    byte[] noToken = new byte[Endpoint.TOKEN_BYTES];
    return Stream.of(
        refused(
            Refusal.PROOF,
            "without the token",
            (peer, to) -> peer.request(Endpoints.with(to, to.addresses(), noToken))),
        refused(
            Refusal.INCARNATION,
            "to a stale endpoint",
            (peer, to) -> peer.request(TestExecutor.endpoint(3, to.addresses()))),
        refused(
            Refusal.VERSION,
            "of another version",
            (peer, to) -> changed(peer.request(to), 1, Messages.PROTOCOL + 1)),
        refused(
            Refusal.PROOF,
            "made for another address",
            (peer, to) -> peer.request(to, NO_SECRET, peer.endpoint(), peer.bindingFrom(other))));
  }

  @ParameterizedTest
  @MethodSource("refusedRequests")
  void shouldRefuseARequest(Refusal reason, Message request) throws Exception {
    start();
    connect();
    peer.send(request.of(peer, server.endpoint()));
    assertRefused(reason);
  }

  @Test
  void shouldRefuseARequestThatWasMadeForAnotherQueuePair() throws Exception {
    start();
    assumeTrue(peer.requestHasQueuePair(), "the request has no queue pair number");
    connect();
    byte[] recorded = peer.request(server.endpoint());
    peer.send(recorded);
    assertThat(peer.awaitMessage()[0]).isEqualTo((byte) Messages.REPLY);
    connect();
    peer.send(recorded);
    assertRefused(Refusal.PROOF);
  }

  private static Stream<Named<Message>> messagesAgainstTheSetUp() {
    return Stream.of(
        named(
            "a recorded CONFIRM",
            (peer, to) -> {
              peer.prove(to);
              byte[] recorded = peer.confirm();
              peer.requestAndAwaitAnswer(to);
              return recorded;
            }),
        named(
            "a CONFIRM before all else",
            (peer, to) -> {
              peer.requestAndAwaitAnswer(to);
              assertThat(peer.connect(to)).isTrue();
              return peer.confirm();
            }),
        named(
            "a CONFIRM with the proof of the answer",
            (peer, to) -> {
              byte[] answer = peer.requestAndAwaitAnswer(to);
              byte[] confirm = peer.confirm();
              System.arraycopy(answer, answer.length - 32, confirm, confirm.length - 32, 32);
              return confirm;
            }),
        named("the answer", BarePeer::requestAndAwaitAnswer),
        named(
            "a LOCATE before the CONFIRM",
            (peer, to) -> {
              peer.requestAndAwaitAnswer(to);
              return BarePeer.locate(1, block(0));
            }),
        named(
            "a second CONFIRM",
            (peer, to) -> {
              peer.prove(to);
              return peer.confirm();
            }),
        named(
            "a second REQUEST",
            (peer, to) -> {
              peer.prove(to);
              return peer.request(to);
            }));
  }

  @ParameterizedTest
  @MethodSource("messagesAgainstTheSetUp")
  void shouldEndAConnectionWith(Message wrong) throws Exception {
    start();
    peer.send(wrong.of(peer, server.endpoint()));
    assertOnlyItsOwnConnectionEnds();
    assertThat(server.count(Counter.LOCATES_SERVED)).as("for the honest peer").isEqualTo(2);
  }

  @Test
  void shouldRefuseItsOwnRequestWhenItIsSentBack() throws Exception {
    start();
    CollectedBlocks wanted = server.fetch(peer.endpoint(), List.of(block(0)));
    peer.accept();
    byte[] own = peer.awaitMessage();
    assertThat(own[0]).isEqualTo((byte) Messages.REQUEST);
    connect();
    peer.send(own);
    assertRefused(Refusal.INCARNATION);
    assertThat(wanted.await().failed(0)).isTrue();
  }

  @Test
  void shouldRefuseAFirstMessageThatIsNoRequest() throws Exception {
    start();
    connect();
    peer.send(BarePeer.locate(1, block(0)));
    assertRefused(Refusal.MALFORMED);
    peer.send(BarePeer.locate(1, block(0)));
    assertOnlyItsOwnConnectionEnds();
  }

  @Test
  void shouldGrantNoAccessBeforeTheConfirm() throws Exception {
    startAndProve(new Options(2).mode(ServeSettings.Mode.WINDOW));
    assumeTrue(peer.canLimitAccess(), "there the device cannot withhold access");
    Located.Decoder extent = peer.locate(block(0));
    BarePeer unconfirmed = another();
    unconfirmed.requestAndAwaitAnswer(server.endpoint());
    assertThat(unconfirmed.read(extent)).isFalse();
    assertThat(peer.read(extent)).as("the key is right for a proven peer").isTrue();
    assertHonestPeerReads(1);
  }

  @Test
  void shouldRefuseReadsOfStrangersWithAddressAndKey() throws Exception {
    startAndProve(new Options(2).mode(ServeSettings.Mode.WINDOW));
    Located.Decoder extent = peer.locate(block(0));
    BarePeer refused = another();
    if (refused.canLimitAccess()) {
      assertThat(refused.connect(server.endpoint())).isTrue();
      refused.send(refused.request(server.endpoint(), new byte[] {1}, refused.endpoint()));
      refused.awaitMessage();
      assertThat(refused.read(extent)).isFalse();
    }
    BarePeer ofAnotherApplication = another();
    ofAnotherApplication.prove(start(3).endpoint());
    assertThat(ofAnotherApplication.read(extent)).isFalse();
    assertThat(peer.read(extent)).as("the key is right for a proven peer").isTrue();
    assertHonestPeerReads(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldEndTheConnectionOfAPeerThatNeverConfirms(boolean requests) throws Exception {
    startServer(new Options(2).connectTimeout(BRIEF));
    if (requests) {
      peer.requestAndAwaitAnswer(server.endpoint(), honest.endpoint());
    } else {
      connect();
    }
    peer.awaitEnd();
    assertHonestPeerReads(1);
    assertThat(server.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
  }

  @Test
  void shouldEndTheConnectionOfARefusedPeerThatStays() throws Exception {
    startServer(new Options(2).connectTimeout(BRIEF));
    connect();
    peer.send(peer.request(server.endpoint(), new byte[] {1}, peer.endpoint()));
    assertRefused(Refusal.PROOF);
    peer.awaitEnd();
    assertHonestPeerReads(2);
  }

  @Test
  void shouldLimitUnprovenConnectionsAndAcceptANewPeerWhenTheyEnd() throws Exception {
    // Longer than ten connects take on emulated processors: none of them ends meanwhile.
    startServer(new Options(2).maxConnections(32).connectTimeout(Duration.ofSeconds(4)));
    for (int i = 0; i < 10; i++) {
      another();
    }
    int accepted = 0;
    for (BarePeer each : others) {
      accepted += each.connect(server.endpoint()) ? 1 : 0;
    }
    assertThat(accepted).isBetween(1, 8);
    assertThat(peer.connect(server.endpoint())).isFalse();
    assertHonestPeerReads(1);
    if (peer.rejectsWithReason()) {
      // It tries again until there is room.
      assertReads(start(3), 1);
    }
  }

  /** Refusals that strangers do not receive use none of the buffers of other peers' answers. */
  @Test
  void shouldAnswerAPeerWhileManyStrangersReceiveNothing() throws Exception {
    int strangers = MemoryShares.MAX_ANSWERS + 1;
    startServer(
        new Options(2).maxConnections(4 * strangers).connectTimeout(Duration.ofSeconds(20)));
    assumeFalse(peer.isOnIwarp(), "there an answer without a receive ends the connection");
    for (int i = 0; i < strangers; i++) {
      BarePeer stranger = another();
      stranger.receiveOnly(0);
      assertThat(stranger.connect(server.endpoint())).isTrue();
      stranger.send(stranger.request(server.endpoint(), new byte[] {1}, stranger.endpoint()));
    }
    while (server.count(Counter.CONNECTIONS_REFUSED) < strangers) {
      Thread.onSpinWait();
    }
    assertHonestPeerReads(1);
  }

  // Executors of the application.

  @Test
  void shouldServeAnExecutorWhoseIncarnationOthersClaim() throws Exception {
    start();
    for (int i = 0; i < 3; i++) {
      BarePeer claiming = another();
      claiming.requestAndAwaitAnswer(server.endpoint(), honest.endpoint());
      // The last one does not even confirm.
      if (i < 2) {
        claiming.send(claiming.confirm());
        claiming.locate(block(0));
      }
    }
    assertHonestPeerReads(1);
    assertThat(honest.count(Counter.CONNECTIONS_CLOSED)).isZero();
  }

  private static byte[] changed(byte[] message, int at, int value) {
    byte[] copy = message.clone();
    copy[at < 0 ? copy.length + at : at] = (byte) value;
    return copy;
  }

  @Test
  void shouldEndTheConnectionOfAPeerThatSendsMalformedLocates() throws Exception {
    byte[] locate = BarePeer.locate(5, block(0));
    assertEndOfEachConnection(
        List.of(
            Arrays.copyOf(locate, 1),
            Arrays.copyOf(locate, Locate.HEADER_BYTES),
            Arrays.copyOf(locate, locate.length - 1),
            Arrays.copyOf(locate, locate.length + 1),
            // Numbers of leases and of blocks.
            changed(locate, 2, 1),
            changed(locate, 3, 0xFF),
            changed(locate, 4, 0),
            changed(locate, 4, 2),
            changed(locate, 5, 0xFF),
            // Negative: time-out, owner, map id, start offset, shuffle id, start and end reduce id.
            changed(locate, 19, 0x80),
            changed(locate, 23, 0x80),
            changed(locate, 31, 0x80),
            changed(locate, 39, 0x80),
            changed(locate, 43, 0x80),
            changed(locate, 47, 0x80),
            changed(locate, 51, 0x80),
            // An unknown flag.
            changed(locate, -1, 1)));
  }

  /** The service names directories of this application's executors only. */
  @Test
  void shouldServeNothingOfOwnersThatTheServiceDoesNotKnow() throws Exception {
    startAndProve(new Options(2));
    server.outputs().ownedBy(CompletableFuture.failedFuture(new IOException("not registered")));
    byte[] locate = BarePeer.locate(1, block(0));
    // Its lowest and its highest byte: executors 7 and 2130706431.
    for (byte[] foreign : List.of(changed(locate, 20, 8), changed(locate, 23, 0x7F))) {
      peer.send(foreign);
      Located.Decoder located = new Located.Decoder().begin(ByteBuffer.wrap(peer.awaitMessage()));
      assertThat(located.nextExtent()).isTrue();
      assertThat(located.kind()).isEqualTo(Located.Kind.UNKNOWN);
    }
    assertHonestPeerReads(1);
    assertThat(server.count(Counter.PROTOCOL_ERRORS)).isZero();
  }

  @Test
  void shouldEndTheConnectionOfAPeerThatSendsMalformedReleases() throws Exception {
    byte[] release = BarePeer.release(1, 2);
    assertEndOfEachConnection(
        List.of(
            Arrays.copyOf(release, 1),
            Arrays.copyOf(release, 8),
            Arrays.copyOf(release, release.length - 1),
            Arrays.copyOf(release, release.length + 1),
            changed(release, 2, 1),
            changed(release, 3, 0xFF)));
  }

  @Test
  void shouldEndTheConnectionOfAPeerThatSendsAnswersOrUnknownTypes() throws Exception {
    List<byte[]> messages = new ArrayList<>();
    messages.add(new byte[0]);
    for (int type : List.of(0, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 99, 200)) {
      messages.add(changed(new byte[8], 0, type));
      messages.add(changed(new byte[72], 0, type));
    }
    byte[] random = new byte[200];
    new Random(4).nextBytes(random);
    messages.add(random);
    messages.add(new byte[MemoryShares.MESSAGE_BYTES + 1]);
    assertEndOfEachConnection(messages);
  }

  private void assertEndOfEachConnection(List<byte[]> messages) throws Exception {
    start();
    for (byte[] message : messages) {
      peer.prove(server.endpoint());
      peer.locate(block(0));
      peer.send(message);
      peer.awaitEnd();
    }
    assertHonestPeerReads(1);
    assertThat(server.count(Counter.PROTOCOL_ERRORS)).isEqualTo(messages.size());
  }

  /** Its LOCATEs wait, and with them the RELEASE, until it receives their answers. */
  @Test
  void shouldEndTheConnectionOfAPeerWhoseMalformedReleaseWaits() throws Exception {
    peer.receiveOnly(1);
    startServer(new Options(2));
    assumeFalse(peer.isOnIwarp(), "there an answer without a receive ends the connection");
    peer.prove(server.endpoint());
    for (int i = 0; i < ServeConnection.SEND_DEPTH + 1; i++) {
      peer.send(BarePeer.locate(i, block(0)));
    }
    peer.post(changed(BarePeer.release(1), 2, 7));
    assertHonestPeerReads(1);
    peer.receiveAgain();
    assertOnlyItsOwnConnectionEnds();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldEndTheConnectionOfAPeerThatReleasesAnothersLease(boolean byLocate) throws Exception {
    startAndProve(new Options(2));
    Located.Decoder extent = peer.locate(block(0));
    long lease = extent.leaseId();
    BarePeer thief = another();
    thief.prove(server.endpoint());
    thief.send(byLocate ? BarePeer.locate(1, block(0), lease) : BarePeer.release(lease));
    thief.awaitEnd();
    assertThat(peer.read(extent)).isTrue();
    assertThat(server.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
    assertHonestPeerReads(1);
  }

  @Test
  void shouldIgnoreTheReleaseOfUnknownLeases() throws Exception {
    startAndProve(new Options(2));
    Located.Decoder extent = peer.locate(block(0));
    peer.send(BarePeer.release(0, 1, -1, extent.leaseId() + 1));
    Release.checkReleased(ByteBuffer.wrap(peer.awaitMessage()));
    assertThat(peer.read(extent)).isTrue();
    assertHonestPeerReads(1);
    assertThat(server.count(Counter.PROTOCOL_ERRORS)).isZero();
  }

  @Test
  void shouldAnswerBusyToAPeerThatKeepsAllItsLeases() throws Exception {
    startAndProve(new Options(2).connectionLeases(8));
    for (int i = 0; i < 8; i++) {
      assertThat(peer.locate(block(0)).kind()).isEqualTo(Located.Kind.LOCATED);
    }
    assertThat(peer.locate(block(0)).kind()).isEqualTo(Located.Kind.BUSY);
    assertThat(server.count(Counter.PEERS_LIMITED)).isEqualTo(1);
    assertHonestPeerReads(0);
  }

  /** Others share its windows, and use TCP for the rest until its connection ends. */
  @ParameterizedTest
  @EnumSource(names = {"WINDOW", "COPY"})
  void shouldServeOthersAgainWhenAPeerThatReleasesNothingIsGone(ServeSettings.Mode mode)
      throws Exception {
    Options options = new Options(2).mode(mode);
    startAndProve(mode == ServeSettings.Mode.COPY ? options : options.pinned(4L << 20, 1 << 20));
    int hoarded = 0;
    for (int map = 0; map < MAPS; map++) {
      hoarded += peer.locate(block(map)).kind() == Located.Kind.LOCATED ? 1 : 0;
    }
    assertThat(hoarded).isBetween(1, MAPS);
    if (hoarded < MAPS) {
      CollectedBlocks refused = fetch(honest, server, List.of(block(MAPS - 1)));
      assertThat(refused.reason(0)).isEqualTo(FallbackReason.PEER_BUSY);
    }
    peer.end();
    while (server.count(Counter.CONNECTIONS_CLOSED) == 0) {
      Thread.onSpinWait();
    }
    for (int map = 0; map < MAPS; map++) {
      assertHonestPeerReads(map);
    }
  }

  @Test
  void shouldEndTheConnectionOfAPeerThatKeepsALeaseTooLong() throws Exception {
    startAndProve(new Options(2).lease(Duration.ofMillis(3_500)));
    Located.Decoder extent = peer.locate(block(3));
    assertThat(peer.read(extent)).isTrue();
    peer.awaitEnd();
    assertThat(peer.read(extent)).as("after the end of the lease").isFalse();
    assertThat(server.count(Counter.LEASES_EXPIRED)).isEqualTo(1);
    assertHonestPeerReads(3);
  }

  @Test
  void shouldEndTheConnectionOfAPeerThatNeverReceivesItsAnswer() throws Exception {
    peer.receiveOnly(1);
    startServer(new Options(2).requestTimeout(BRIEF));
    peer.prove(server.endpoint());
    peer.post(BarePeer.locate(1, block(3)));
    peer.awaitEnd();
    assertHonestPeerReads(3);
    assertThat(server.count(Counter.PROTOCOL_ERRORS)).isZero();
  }

  @Test
  void shouldEndTheConnectionOfAPeerWithTooManyOpenRequests() throws Exception {
    peer.receiveOnly(1);
    startServer(new Options(2).requestTimeout(BRIEF));
    assumeFalse(peer.isOnIwarp(), "there an answer without a receive ends the connection");
    peer.prove(server.endpoint());
    // The server stops posting receives, so that later requests wait in the sender's queue.
    for (int i = 0; i < 2 * ServeConnection.SEND_DEPTH; i++) {
      peer.post(BarePeer.locate(i, block(i)));
    }
    peer.awaitEnd();
    assertHonestPeerReads(3);
    assertThat(server.count(Counter.PROTOCOL_ERRORS)).isZero();
    assertThat(server.count(Counter.LOCATES_SERVED))
        .isLessThanOrEqualTo(2 + ServeConnection.SEND_DEPTH);
  }

  /** A peer that holds a lease keeps its connection, and no other one for ever. */
  @Test
  void shouldEndAnIdleConnectionForAPeerThatFindsNoRoom() throws Exception {
    startServer(new Options(2).maxConnections(2));
    peer.prove(server.endpoint());
    peer.locate(block(0));
    TestExecutor last = start(new Options(3));
    assertReads(last, 1);
    assertReads(honest, 1);
    assertThat(honest.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(2);
    peer.locate(block(1));
    peer.end();
    assertReads(last, 2);
  }
}
