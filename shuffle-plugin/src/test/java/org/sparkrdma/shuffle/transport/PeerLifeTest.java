// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.address.TestAddresses;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.Endpoints;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.Located;

/** Handling of peers that fail, are incompatible, or are removed. */
@Timeout(120)
class PeerLifeTest {
  private static final List<BlockRange> BLOCKS = List.of(new BlockRange(0, 1, 0, 1));

  /** The default of {@code attempts.max}. */
  private static final int MAX_ATTEMPTS = 32;

  /** The reserve and an idle connection take an eighth of it. */
  private static final long PINNED_WITHOUT_CREDITS = 8L * (ControlBuffers.RESERVE + 2) * (16 << 10);

  @TempDir private Path directory;
  private final AtomicLong laterNs = new AtomicLong();
  private volatile LongSupplier clock = System::nanoTime;
  private final List<TestExecutor> executors = new ArrayList<>();

  @AfterEach
  void closeAllWithoutLeaks() {
    executors.forEach(TestExecutor::close);
    executors.clear();
  }

  private TestExecutor start(TestExecutor.Options options) throws Exception {
    Path own = Files.createDirectory(directory.resolve("executor-" + executors.size()));
    options.nanoClock(() -> clock.getAsLong() + laterNs.get());
    TestExecutor executor = new TestExecutor(own, options);
    executors.add(executor);
    return executor;
  }

  /** Time passes only by {@link #laterNs} from now on, also when this machine is busy. */
  private void stopClock() {
    long nowNs = System.nanoTime();
    clock = () -> nowNs;
  }

  /** Time passes while the agent of the reader runs; the clock is stopped. */
  private void pass(TestExecutor reader, Duration time) {
    long stepNs = ConnectionAttempts.MAX_STEP_NS;
    for (long leftNs = time.toNanos(); leftNs > 0; leftNs -= stepNs) {
      laterNs.addAndGet(stepNs);
      // A turn reads the time at its beginning, so the present one may have the time before.
      TransportAgent agent = reader.transport().agent;
      long turns = agent.allIterations();
      while (agent.allIterations() < turns + 2) {
        connections(reader);
      }
    }
  }

  private static CollectedBlocks fetch(TestExecutor reader, Endpoint peer) throws Exception {
    return startFetch(reader, peer).await();
  }

  private static void awaitConnection(TestExecutor reader) {
    while (reader.count(Counter.CONNECTIONS_ESTABLISHED) == 0) {
      Thread.onSpinWait();
    }
  }

  /** The scripted server answers that it has no such block. */
  private void assertAnswersOverAConnection(TestExecutor reader, Endpoint server) throws Exception {
    awaitConnection(reader);
    assertThat(fetch(reader, server).reason(0)).isEqualTo(FallbackReason.PEER_UNKNOWN_BLOCK);
  }

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

  /** Accepts no request before {@link HostileServer#acceptHeld}. */
  private static class Silent implements HostileServer.Script {
    @Override
    public boolean accepts() {
      return false;
    }

    @Override
    public void onLocate(HostileServer.Question question) {
      question.answer().byTcp(0, Located.Kind.UNKNOWN).send(0);
    }
  }

  private static CollectedBlocks startFetch(TestExecutor reader, Endpoint peer) {
    CollectedBlocks collected = new CollectedBlocks(BLOCKS);
    reader.transport().fetch(peer, BLOCKS, null, collected);
    return collected;
  }

  private static void awaitRequests(HostileServer server, int count) {
    while (server.heldRequests() < count) {
      Thread.onSpinWait();
    }
  }

  @Test
  void shouldGoOnWithASlowAttemptWhileBlocksUseTcp() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1));
    try (HostileServer slow = new HostileServer(7, new Silent())) {
      CollectedBlocks first = startFetch(reader, slow.endpoint());
      awaitRequests(slow, 1);
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
      CollectedBlocks first = startFetch(reader, silent.endpoint());
      awaitRequests(silent, 1);
      pass(reader, Duration.ofSeconds(9));
      assertThat(first.await().reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
      assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
      pass(reader, Duration.ofSeconds(7));
      while (reader.count(Counter.PEERS_QUARANTINED) == 0) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void shouldGiveUpASilentPeerForOneWithBlocksWhenNoMoreAttemptsAreAllowed() throws Exception {
    stopClock();
    TestExecutor reader = start(new TestExecutor.Options(1).maxAttempts(1));
    try (HostileServer one = new HostileServer(7, new Silent());
        HostileServer two = new HostileServer(8, new Silent())) {
      CollectedBlocks ofOne = startFetch(reader, one.endpoint());
      awaitRequests(one, 1);
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
      CollectedBlocks ofOne = startFetch(reader, one.endpoint());
      awaitRequests(one, 1);
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
      while (reader.count(Counter.PEERS_QUARANTINED) == 0) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void shouldEndAnAttemptInTimeAfterAPauseOfTheAgent() throws Exception {
    stopClock();
    TestExecutor reader = start(new TestExecutor.Options(1));
    try (HostileServer silent = new HostileServer(7, new Silent())) {
      startFetch(reader, silent.endpoint());
      awaitRequests(silent, 1);
      pass(reader, Duration.ofSeconds(2));
      laterNs.addAndGet(Duration.ofSeconds(60).toNanos());
      pass(reader, Duration.ofSeconds(2));
      assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
      pass(reader, Duration.ofSeconds(12));
      while (reader.count(Counter.PEERS_QUARANTINED) == 0) {
        Thread.onSpinWait();
      }
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

  /** Number of connections and attempts, after the commands given so far. */
  private static int connections(TestExecutor executor) {
    CompletableFuture<Integer> answer = new CompletableFuture<>();
    executor.transport().agent.execute(() -> answer.complete(executor.transport().table.size()));
    return answer.join();
  }

  /** The idle time-out is 5 min: it holds where none is free, and 9 of them are added else. */
  @Test
  void shouldKeepIdleConnectionsLongerTheMoreConnectionsAreFree() throws Exception {
    TestExecutor full = start(new TestExecutor.Options(1).maxConnections(1));
    TestExecutor half = start(new TestExecutor.Options(2).maxConnections(2));
    TestExecutor most = start(new TestExecutor.Options(3).maxConnections(64));
    TestExecutor server = start(new TestExecutor.Options(4).maxConnections(64));
    server.outputs().write(1, new Random(1), 1000);
    for (TestExecutor reader : List.of(full, half, most)) {
      fetch(reader, server.endpoint());
    }
    for (TestExecutor executor : executors) {
      executor.awaitIdle();
    }
    laterNs.addAndGet(Duration.ofMinutes(6).toNanos());
    awaitClosed(full);
    laterNs.addAndGet(Duration.ofMinutes(19).toNanos());
    assertNotClosed(half, most);
    laterNs.addAndGet(Duration.ofMinutes(3).toNanos());
    awaitClosed(half);
    laterNs.addAndGet(Duration.ofMinutes(16).toNanos());
    assertNotClosed(most);
    laterNs.addAndGet(Duration.ofMinutes(7).toNanos());
    awaitClosed(most);
  }

  @Test
  void shouldKeepAnIdleConnectionNoLongerThanTheTimeoutWhereNoMemoryOfMessagesIsFree()
      throws Exception {
    TestExecutor reader =
        start(new TestExecutor.Options(1).pinned(PINNED_WITHOUT_CREDITS, 256 << 10));
    TestExecutor server = start(new TestExecutor.Options(2));
    server.outputs().write(1, new Random(1), 1000);
    fetch(reader, server.endpoint());
    reader.awaitIdle();
    laterNs.addAndGet(Duration.ofMinutes(6).toNanos());
    awaitClosed(reader);
  }

  private static void awaitClosed(TestExecutor executor) {
    while (executor.count(Counter.CONNECTIONS_CLOSED) == 0) {
      Thread.onSpinWait();
    }
  }

  private static void assertNotClosed(TestExecutor... kept) {
    for (TestExecutor executor : kept) {
      assertThat(connections(executor)).isEqualTo(1);
      assertThat(connections(executor)).as("a turn later").isEqualTo(1);
    }
  }

  private static InetSocketAddress at(Endpoint real, int port) {
    return new InetSocketAddress(Endpoints.preferredAddress(real).getAddress(), port);
  }

  private static Endpoint moved(Endpoint real, int port) {
    return new Endpoint(
        real.executorId(),
        TestAddresses.listener(at(real, port)),
        real.engine(),
        real.protocol(),
        real.incarnation(),
        real.token());
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
