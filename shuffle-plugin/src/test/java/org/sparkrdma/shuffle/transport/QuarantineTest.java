// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.address.TestAddresses;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.Endpoints;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * Lengths of quarantines, which begin with 200 ms and last for at most 2 s, and blocks that test a
 * peer after them.
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

  /** The peer answers no LOCATE: one that it has received times out. */
  private void timeOut(HostileServer silent, CollectedBlocks wanted, int locates)
      throws InterruptedException {
    while (silent.locates() < locates) {
      Thread.onSpinWait();
    }
    pass(REQUEST_TIMEOUT.plusMillis(10));
    assertThat(wanted.await().reason(0)).isEqualTo(FallbackReason.TIMEOUT);
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
    CompletableFuture<Long> found = new CompletableFuture<>();
    reader
        .transport()
        .agent
        .execute(
            () -> {
              try {
                Object peers = new ObjectWalk().one(reader.transport(), Peers.class);
                Peer peer = new ObjectWalk().one(peers, Peer.class);
                found.complete(
                    LongStream.range(0, 10_000)
                        .filter(ms -> !peer.isQuarantined(nowNs.get() + ms * 1_000_000))
                        .findFirst()
                        .orElseThrow());
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
      timeOut(silent, begin(silent.endpoint(), 1), i + 1);
      assertThat(quarantineMs()).as("quarantine %s", i).isEqualTo(LENGTHS_MS[i]);
      passQuarantine(silent.endpoint(), LENGTHS_MS[i]);
    }
  }

  @Test
  void shouldQuarantineAPeerForLongerThatAcceptsConnectionsAndBreaksTheProtocol() throws Exception {
    HostileServer hostile = start(question -> question.server().send(new byte[] {9, 9, 9}));
    for (int i = 0; i < LENGTHS_MS.length; i++) {
      assertThat(begin(hostile.endpoint(), 1).await().failed(0)).isTrue();
      assertThat(quarantineMs()).as("quarantine %s", i).isEqualTo(LENGTHS_MS[i]);
      passQuarantine(hostile.endpoint(), LENGTHS_MS[i]);
    }
  }

  @Test
  void shouldNotEndTheQuarantineOfASilentPeerThatConnectsItself() throws Exception {
    HostileServer silent = start(question -> {});
    timeOut(silent, begin(silent.endpoint(), 1), 1);
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

    assertThat(begin(server.endpoint(), 1).await().bytes(0)).hasSize(LENGTH);
  }

  @Test
  void shouldTestAPeerByOneBlockAtATimeWhileTheOthersUseTcpAtOnce() throws Exception {
    HostileServer silent = start(question -> {});
    timeOut(silent, begin(silent.endpoint(), 5), 1);
    passQuarantine(silent.endpoint(), 200);

    CollectedBlocks test = begin(silent.endpoint(), 3);
    test.awaitFirst(2);
    assertThat(test.reason(1)).isEqualTo(FallbackReason.QUARANTINED);
    assertThat(test.reason(2)).isEqualTo(FallbackReason.QUARANTINED);
    assertQuarantined(silent.endpoint());
    timeOut(silent, test, 2);
  }

  @Test
  void shouldTrustAPeerAgainWhoseBlockWasRead() throws Exception {
    AtomicBoolean answers = new AtomicBoolean();
    HostileServer server =
        start(
            question -> {
              if (answers.get()) {
                HostileServer.Answer answer = question.answer();
                for (int i = 0; i < question.blocks(); i++) {
                  answer.piece(i, 0, LENGTH, LENGTH);
                }
                answer.send(question.number());
              }
            });
    timeOut(server, begin(server.endpoint(), 1), 1);
    passQuarantine(server.endpoint(), 200);
    timeOut(server, begin(server.endpoint(), 1), 2);
    passQuarantine(server.endpoint(), 400);
    assertThat(reader.counters().quarantined().shownIds()).isEqualTo("7");

    answers.set(true);
    CollectedBlocks test = begin(server.endpoint(), 2);
    assertThat(test.await().bytes(0)).hasSize(LENGTH);
    assertThat(reader.counters().quarantined().shownIds()).isEmpty();
    CollectedBlocks all = begin(server.endpoint(), 2).await();
    assertThat(all.bytes(0)).hasSize(LENGTH);
    assertThat(all.bytes(1)).hasSize(LENGTH);

    answers.set(false);
    int before = server.locates();
    timeOut(server, begin(server.endpoint(), 1), before + 1);
    assertThat(quarantineMs()).isEqualTo(200);
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
      timeOut(server, wanted, i + 1);
      assertThat(quarantineMs()).as("quarantine %s", i).isEqualTo(LENGTHS_MS[i]);
      passQuarantine(server.endpoint(), LENGTHS_MS[i]);
    }
  }
}
