// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.address.TestAddresses;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.Endpoints;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Release;

/**
 * Lengths of quarantines, which begin with 200 ms and last for at most 2 s, and requests of the
 * reader's own that test a peer after them.
 */
class QuarantineTest extends StoppedClockFixture {
  private static final int LENGTH = HostileServer.PERIOD;
  private static final long[] LENGTHS_MS = {200, 400, 800, 1_600, 2_000, 2_000};

  /** A server of the application with this behaviour, and a reader. */
  private HostileServer start(HostileServer.Script script) throws Exception {
    startReader(new TestExecutor.Options(1));
    return startServer(script);
  }

  private void assertQuarantined(Endpoint peer) throws Exception {
    assertThat(begin(peer, 1).await().reason(0)).isEqualTo(FallbackReason.QUARANTINED);
  }

  /** The peer answers no LOCATE: one that it has received times out, and it is quarantined. */
  private void timeOut(HostileServer silent, int locates) {
    awaitLocates(silent, locates);
    passRequestTimeout();
  }

  private static void awaitLocates(HostileServer server, int locates) {
    while (server.locates() < locates) {
      Thread.onSpinWait();
    }
  }

  private void passRequestTimeout() {
    long before = reader.count(Counter.PEERS_QUARANTINED);
    pass(REQUEST_TIMEOUT.plusMillis(10));
    awaitQuarantines(before + 1);
  }

  private void awaitQuarantines(long count) {
    while (reader.count(Counter.PEERS_QUARANTINED) < count) {
      Thread.onSpinWait();
    }
  }

  /** The block itself was requested the first time; later ones use TCP while a request tests. */
  private static void assertUsesTcp(CollectedBlocks wanted, boolean first, FallbackReason atFirst)
      throws InterruptedException {
    assertThat(wanted.await().reason(0)).isEqualTo(first ? atFirst : FallbackReason.QUARANTINED);
  }

  /** The quarantine of the peer ends, and a connection tests it. */
  private void passQuarantine(Endpoint peer, long lengthMs) throws Exception {
    pass(Duration.ofMillis(lengthMs));
    long before = reader.count(Counter.CONNECTIONS_ESTABLISHED);
    assertQuarantined(peer);
    awaitConnection(before);
  }

  private void awaitConnection(long before) {
    while (reader.count(Counter.CONNECTIONS_ESTABLISHED) == before) {
      Thread.onSpinWait();
    }
  }

  /** Time until the end of the quarantine of the peer, in milliseconds. */
  private long quarantineMs() {
    return ofPeer(
        peer ->
            LongStream.range(0, 10_000)
                .filter(ms -> !peer.isQuarantined(nowNs.get() + ms * 1_000_000))
                .findFirst()
                .orElseThrow());
  }

  /** Blocks that are fetched over the connection of the peer, those of tests as well. */
  private int blocksUnderWay() {
    return ofPeer(peer -> peer.established().blocks().size());
  }

  /** The answer to a question about the peer, on the agent's thread. */
  private <T> T ofPeer(Function<Peer, T> question) {
    CompletableFuture<T> found = new CompletableFuture<>();
    reader
        .transport()
        .agent
        .execute(
            () -> {
              try {
                Object peers = new ObjectWalk().one(reader.transport(), Peers.class);
                found.complete(question.apply(new ObjectWalk().one(peers, Peer.class)));
              } catch (IllegalAccessException | RuntimeException e) {
                found.completeExceptionally(e);
              }
            });
    return found.join();
  }

  private static Endpoint unreachable(Endpoint real) {
    InetAddress address = Endpoints.preferredAddress(real).getAddress();
    return new Endpoint(
        real.executorId(),
        TestAddresses.listener(new InetSocketAddress(address, 1)),
        real.engine(),
        real.protocol(),
        real.incarnation(),
        real.token());
  }

  @Test
  void shouldQuarantineAPeerForLongerWhoseTestFails() throws Exception {
    startReader(new TestExecutor.Options(1));
    Endpoint unreachable = unreachable(startServer().endpoint());
    assertThat(begin(unreachable, 1).await().reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
    for (int i = 0; i < LENGTHS_MS.length; i++) {
      assertThat(quarantineMs()).as("quarantine %s", i).isEqualTo(LENGTHS_MS[i]);
      pass(Duration.ofMillis(LENGTHS_MS[i]));
      assertQuarantined(unreachable);
      while (reader.count(Counter.PEERS_QUARANTINED) < i + 2) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void shouldQuarantineAPeerForLongerThatAcceptsConnectionsAndAnswersNothing() throws Exception {
    HostileServer silent = start(question -> {});
    for (int i = 0; i < LENGTHS_MS.length; i++) {
      CollectedBlocks wanted = begin(silent.endpoint(), 1);
      timeOut(silent, i + 1);
      assertUsesTcp(wanted, i == 0, FallbackReason.TIMEOUT);
      assertThat(quarantineMs()).as("quarantine %s", i).isEqualTo(LENGTHS_MS[i]);
      passQuarantine(silent.endpoint(), LENGTHS_MS[i]);
    }
  }

  @Test
  void shouldQuarantineAPeerForLongerThatAcceptsConnectionsAndBreaksTheProtocol() throws Exception {
    HostileServer hostile = start(question -> question.server().send(new byte[] {9, 9, 9}));
    for (int i = 0; i < LENGTHS_MS.length; i++) {
      assertThat(begin(hostile.endpoint(), 1).await().failed(0)).isTrue();
      awaitQuarantines(i + 1);
      assertThat(quarantineMs()).as("quarantine %s", i).isEqualTo(LENGTHS_MS[i]);
      passQuarantine(hostile.endpoint(), LENGTHS_MS[i]);
    }
  }

  @Test
  void shouldNotEndTheQuarantineOfASilentPeerThatConnectsItself() throws Exception {
    HostileServer silent = start(question -> {});
    begin(silent.endpoint(), 1);
    timeOut(silent, 1);
    try (HostilePeer same = new HostilePeer()) {
      long before = reader.count(Counter.CONNECTIONS_ESTABLISHED);
      same.connect(reader.endpoint(), PEER);
      awaitConnection(before);
      assertThat(quarantineMs()).isEqualTo(200);
      assertQuarantined(silent.endpoint());
      assertThat(reader.counters().quarantined().shownIds()).isEqualTo("7");
    }
  }

  @Test
  void shouldUseTheConnectionOfAPeerThatItCouldNotConnectTo() throws Exception {
    startReader(new TestExecutor.Options(1));
    TestExecutor server = startServer();
    server.outputs().write(0, new Random(1), LENGTH);
    reader.outputs().write(0, new Random(1), LENGTH);
    Endpoint unreachable = unreachable(server.endpoint());
    assertThat(begin(unreachable, 1).await().reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
    assertThat(begin(server, reader.endpoint(), 1).await().bytes(0)).hasSize(LENGTH);

    assertQuarantined(server.endpoint());
    awaitTrust();
    assertThat(begin(server.endpoint(), 1).await().bytes(0)).hasSize(LENGTH);
    assertThat(reader.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
  }

  /** The clock stands still, so a block that waited would have no answer. */
  @Test
  void shouldTestAPeerByARequestOfItsOwnWhileAllBlocksUseTcp() throws Exception {
    HostileServer silent = start(question -> {});
    begin(silent.endpoint(), 5);
    timeOut(silent, 1);
    passQuarantine(silent.endpoint(), 200);

    CollectedBlocks all = begin(silent.endpoint(), 3).await();
    assertThat(all.reasons()).isEqualTo(Map.of("quarantined", 3L));
    awaitLocates(silent, 2);
    assertQuarantined(silent.endpoint());
    assertThat(blocksUnderWay()).as("one test at a time").isEqualTo(1);
    passRequestTimeout();
    assertThat(quarantineMs()).isEqualTo(400);
  }

  @Test
  void shouldTrustAPeerAgainWhoseTestWasReadAndReleaseItsLease() throws Exception {
    AtomicBoolean answers = new AtomicBoolean();
    AtomicInteger released = new AtomicInteger();
    HostileServer server =
        start(
            new HostileServer.Script() {
              @Override
              public void onLocate(HostileServer.Question question) {
                if (answers.get()) {
                  HostileServer.Answer answer = question.answer();
                  for (int i = 0; i < question.blocks(); i++) {
                    answer.piece(i, 0, LENGTH, LENGTH);
                  }
                  answer.send(question.number());
                }
              }

              @Override
              public void onRelease(HostileServer from, Release release) {
                released.addAndGet(release.leaseCount());
                HostileServer.Script.super.onRelease(from, release);
              }
            });
    begin(server.endpoint(), 1);
    timeOut(server, 1);
    passQuarantine(server.endpoint(), 200);
    assertQuarantined(server.endpoint());
    timeOut(server, 2);
    passQuarantine(server.endpoint(), 400);
    assertThat(reader.counters().quarantined().shownIds()).isEqualTo("7");

    answers.set(true);
    assertQuarantined(server.endpoint());
    awaitTrust();
    while (released.get() == 0) {
      Thread.onSpinWait();
    }
    CollectedBlocks all = begin(server.endpoint(), 2).await();
    assertThat(all.bytes(0)).hasSize(LENGTH);
    assertThat(all.bytes(1)).hasSize(LENGTH);

    answers.set(false);
    int before = server.locates();
    CollectedBlocks wanted = begin(server.endpoint(), 1);
    timeOut(server, before + 1);
    assertThat(wanted.await().reason(0)).isEqualTo(FallbackReason.TIMEOUT);
    assertThat(quarantineMs()).isEqualTo(200);
  }

  private void awaitTrust() {
    while (!reader.counters().quarantined().shownIds().isEmpty()) {
      Thread.onSpinWait();
    }
  }

  /** Such a block could never be received as a whole. */
  @Test
  void shouldReadOnlyTheBeginningOfALargeBlockToTestAPeer() throws Exception {
    AtomicBoolean answers = new AtomicBoolean();
    HostileServer server =
        start(
            question -> {
              if (answers.get()) {
                question.answer().piece(0, 0, HostileServer.CONTENT_BYTES, 1L << 40).send(1);
              }
            });
    begin(server.endpoint(), 1);
    timeOut(server, 1);
    passQuarantine(server.endpoint(), 200);
    answers.set(true);
    assertQuarantined(server.endpoint());
    awaitTrust();
    // Chunks of receive memory have 64 KiB, and a READ never crosses the end of one.
    assertThat(reader.count(Counter.RDMA_READS_POSTED)).isBetween(1L, 2L);
    assertThat(begin(server.endpoint(), 1).await().reason(0)).isEqualTo(FallbackReason.POOL_EMPTY);
  }

  @Test
  void shouldNotRepeatATestThatLosesItsConnection() throws Exception {
    AtomicBoolean ends = new AtomicBoolean();
    HostileServer server =
        start(
            question -> {
              if (ends.get()) {
                question.server().disconnect();
              }
            });
    begin(server.endpoint(), 1);
    timeOut(server, 1);
    passQuarantine(server.endpoint(), 200);
    long established = reader.count(Counter.CONNECTIONS_ESTABLISHED);
    long closed = reader.count(Counter.CONNECTIONS_CLOSED);
    ends.set(true);
    assertQuarantined(server.endpoint());
    while (reader.count(Counter.CONNECTIONS_CLOSED) == closed) {
      Thread.onSpinWait();
    }
    passForReader(Duration.ofMillis(10));
    boolean wanted = ofPeer(Peer::isWaiting);
    assertThat(wanted).as("a connection that no block has requested").isFalse();
    assertThat(reader.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(established);
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isEqualTo(1);
  }

  @Test
  void shouldQuarantineAPeerForLongerWhoseReadsDoNotComplete() throws Exception {
    startReader(new TestExecutor.Options(1).faults("hang@1+"));
    HostileServer server =
        startServer(question -> question.answer().piece(0, 0, LENGTH, LENGTH).send(1));
    for (int i = 0; i < LENGTHS_MS.length; i++) {
      CollectedBlocks wanted = begin(server.endpoint(), 1);
      while (reader.count(Counter.RDMA_READS_POSTED) < i + 1) {
        Thread.onSpinWait();
      }
      passRequestTimeout();
      assertUsesTcp(wanted, i == 0, FallbackReason.TIMEOUT);
      assertThat(quarantineMs()).as("quarantine %s", i).isEqualTo(LENGTHS_MS[i]);
      passQuarantine(server.endpoint(), LENGTHS_MS[i]);
    }
  }
}
