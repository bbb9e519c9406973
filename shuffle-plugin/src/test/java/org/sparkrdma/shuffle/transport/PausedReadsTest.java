// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.fetch.ReceiveMemory;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.pinned.MemoryShares;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.Messages;

/**
 * A reader whose JVM pauses while it fetches, in virtual time: the devices go on, so that its READs
 * complete and its peers answer. Or READs from some of its peers pause, while all others go on. Or
 * a connection breaks while its blocks are in one of their states. Or the reader stops for long.
 */
class PausedReadsTest extends VirtualFixture {
  private static final int BLOCK_BYTES = 256 << 10;
  private static final int BLOCKS = 64;
  private static final int PARTS = 20;
  private static final int PARTITIONS = 64;
  private static final long LIMIT_NS = Duration.ofSeconds(90).toNanos();

  private final List<VirtualFetch> fetches = new ArrayList<>();
  private VirtualExecutor reader;
  private long firstReadNs;

  private void start(int servers, int blockBytes, String... settings) throws Exception {
    renewFabric();
    fetches.clear();
    for (int i = 0; i <= servers; i++) {
      fabric.start(blockBytes, settings);
    }
    reader = executor(0);
  }

  private VirtualExecutor executor(int number) {
    return fabric.executors().get(number);
  }

  private VirtualFetch fetch(VirtualExecutor server, int blocks) {
    VirtualFetch fetch = new VirtualFetch(reader, server.endpoint(), 0, blocks, () -> {});
    fetches.add(fetch);
    return fetch;
  }

  private void awaitAnswers(long maxNs) {
    assertThat(fabric.runUntil(() -> fetches.stream().allMatch(VirtualFetch::isAnswered), maxNs))
        .isTrue();
  }

  /** All deadlines are over, so no connection has work. */
  private void assertIdle() throws Exception {
    fabric.run(20_000 * MS);
    assertThat(reader.transport().shared().readLimit().postedBytes()).isZero();
    assertThat(new ObjectWalk().from(reader.transport()))
        .filteredOn(object -> object instanceof FetchConnection open && open.isUsable())
        .noneMatch(connection -> ((FetchConnection) connection).isBusy());
  }

  /** Fetches from all others; returns the time that it took, and notes that of the first READ. */
  private long fetchAll(long pauseAtNs, Duration pause) {
    fabric.at(pauseAtNs, reader::pause);
    fabric.at(pauseAtNs + pause.toNanos(), reader::resume);
    for (VirtualExecutor server : fabric.executors()) {
      if (server != reader) {
        fetch(server, BLOCKS);
      }
    }
    assertThat(fabric.runUntil(() -> reader.maxBytesInFlight > 0, LIMIT_NS)).isTrue();
    firstReadNs = fabric.nowNs();
    awaitAnswers(LIMIT_NS);
    return fabric.nowNs();
  }

  /** More READs complete meanwhile than the agent takes at once. */
  @Test
  void shouldQuarantineNoPeerAfterAPauseLongerThanTheRequestTimeout() throws Exception {
    String[] settings = {"reads.bytes.max", "1g", "request.timeout", "5s"};
    start(12, BLOCK_BYTES, settings);
    long wholeNs = fetchAll(0, Duration.ZERO);
    for (int part = 1; part < PARTS; part++) {
      start(12, BLOCK_BYTES, settings);
      fetchAll(wholeNs * part / PARTS, Duration.ofSeconds(6));
      assertThat(fetches).as("paused at part %d of %d", part, PARTS).allMatch(VirtualFetch::isRead);
      assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
      assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isZero();
    }
  }

  /** READs need nothing of the server's process, which may see no message for a long time. */
  @Test
  void shouldUseAnswersThatTakeLongerThanTheIdleTimeoutOfTheServer() throws Exception {
    String[] settings = {"idle.timeout", "100ms", "connections.max", "1"};
    start(1, BLOCK_BYTES, settings);
    long wholeNs = fetchAll(0, Duration.ZERO);
    long readsNs = firstReadNs;
    for (int part = 0; part < PARTS; part++) {
      start(1, BLOCK_BYTES, settings);
      fetchAll(readsNs + (wholeNs - readsNs) * part / PARTS, Duration.ofSeconds(1));
      assertThat(fetches).as("part %d of %d", part, PARTS).allMatch(VirtualFetch::isRead);
      assertThat(executor(1).count(Counter.CONNECTIONS_CLOSED)).as("part %d", part).isZero();
      assertThat(reader.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
    }
  }

  @Test
  void shouldEndTheIdleConnectionOfAReaderThatStaysAway() throws Exception {
    start(1, BLOCK_BYTES, "idle.timeout", "100ms");
    fetchAll(0, Duration.ZERO);
    fabric.run(50 * MS);
    reader.pause();

    fabric.run(100 * MS);
    assertThat(executor(1).connections()).as("readers end idle ones first").isOne();
    fabric.run(200 * MS);
    assertThat(executor(1).connections()).isZero();
    reader.resume();
    fabric.run(10 * MS);
    assertThat(reader.connections()).isZero();
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
  }

  /** The address was being resolved; the pause is longer than any time-out of an attempt. */
  @Test
  void shouldConnectAfterAPauseWithoutAQuarantine() throws Exception {
    start(1, BLOCK_BYTES);
    VirtualFetch late = fetch(executor(1), 1);
    fabric.run(VirtualFabric.SETUP_NS / 2);
    reader.pause();
    fabric.run(Duration.ofSeconds(30).toNanos());
    reader.resume();
    fabric.run(200 * MS);

    assertThat(late.isAnswered()).isTrue();
    VirtualFetch next = fetch(executor(1), 1);
    fabric.run(10 * MS);
    assertThat(next.isRead()).isTrue();
    assertThat(reader.requests).isOne();
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
  }

  @Test
  void shouldReadFromOthersBesideAPeerWhoseReadsHang() throws Exception {
    start(3, BLOCK_BYTES, "reads.bytes.max", "1m");
    fabric.delayReads(from -> from == executor(1) ? VirtualFabric.LOST : 0);
    VirtualFetch hanging = fetch(executor(1), 64);
    fabric.run(10 * MS);
    fetch(executor(2), 64);
    fetch(executor(3), 64);
    fabric.run(600 * MS);
    assertThat(fetches.subList(1, 3)).allMatch(VirtualFetch::isRead);
    assertThat(hanging.failures()).containsOnlyKeys(FallbackReason.SLOW_PEER);
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).as("before the time-out").isZero();
    fabric.run(31_000 * MS);
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).as("of the hanging one").isOne();
    assertIdle();
  }

  /** As with a JVM that collects for longer than a tick again and again. */
  @Test
  void shouldEndReadsThatHangAlsoWhereEachTickFollowsAPause() throws Exception {
    start(1, BLOCK_BYTES, "request.timeout", "5s");
    fabric.delayReads(from -> VirtualFabric.LOST);
    VirtualFetch hanging = fetch(executor(1), 1);
    for (int i = 0; i < 100; i++) {
      reader.pause();
      fabric.run(600 * MS);
      reader.resume();
      fabric.run(50 * MS);
    }
    assertThat(hanging.failures()).containsOnlyKeys(FallbackReason.SLOW_PEER);
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isOne();
  }

  /** A lease would end otherwise. */
  @Test
  void shouldGiveEachReadTheTimeOfARequestAlsoBesideOthersThatComplete() throws Exception {
    start(1, BLOCK_BYTES, "request.timeout", "5s");
    fabric.delayReads(from -> 900 * MS);
    VirtualFetch slow = fetch(executor(1), 16);
    awaitAnswers(600 * MS);
    assertThat(slow.failures()).containsOnlyKeys(FallbackReason.SLOW_PEER);
    fabric.run(5_200 * MS);
    assertThat(reader.count(Counter.HEDGED_BYTES)).isEqualTo(5 * BLOCK_BYTES);
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isOne();
  }

  /** Each has progress, but bytes in flight rarely have room; some READs of a block are posted. */
  @Test
  void shouldSendReadsThatWereNeverPostedToTcpWithoutAFault() throws Exception {
    start(
        4,
        4 * BLOCK_BYTES,
        "reads.bytes.max",
        "768k",
        "pool.max",
        "36m",
        "request.timeout",
        "1500ms");
    fabric.delayReads(from -> 90 * MS);
    for (int i = 1; i <= 4; i++) {
      fetch(executor(i), 8);
    }
    awaitAnswers(LIMIT_NS);
    assertThat(fetches.get(0).read()).isBetween(1, 7);
    assertThat(fetches).allMatch(fetch -> fetch.failures().containsKey(FallbackReason.TIMEOUT));

    fabric.delayReads(from -> 0);
    fetches.clear();
    for (int i = 2; i <= 4; i++) {
      // They need the memory of all that failed but of READs in flight.
      fetch(executor(i), 11);
    }
    awaitAnswers(5_000 * MS);
    assertThat(fetches).allMatch(VirtualFetch::isRead);
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isZero();
    assertIdle();
  }

  /** READs from the first two peers are well, others take up to 4 s each or hang. */
  @Test
  void shouldGiveBackEachByteInFlightOnce() throws Exception {
    for (int seed = 1; seed <= 40; seed++) {
      Random random = new Random(seed);
      int blockBytes = 1 + random.nextInt(random.nextBoolean() ? 10_000 : 1 << 20);
      long max = BLOCK_BYTES * (1L + random.nextInt(8));
      String timeout = (1 + random.nextInt(6)) + "s";
      start(6, blockBytes, "reads.bytes.max", max + "", "request.timeout", timeout);
      fabric.delayReads(
          from -> {
            assertThat(reader.transport().shared().readLimit().postedBytes()).isBetween(1L, max);
            boolean well = from == executor(1) || from == executor(2) || random.nextInt(8) > 0;
            long delayNs = random.nextInt(8) == 0 ? VirtualFabric.LOST : random.nextInt(4_000) * MS;
            return well ? 0 : delayNs;
          });
      for (int i = 0; i < 20; i++) {
        VirtualExecutor server = executor(1 + i % 6);
        int blocks = 1 + random.nextInt(200);
        fabric.at(random.nextInt(10_000) * MS, () -> fetch(server, blocks));
      }
      fabric.run(10_000 * MS);
      awaitAnswers(LIMIT_NS);
      assertThat(executor(1).count(Counter.CONNECTIONS_CLOSED)).as("seed %d", seed).isZero();
      assertThat(executor(2).count(Counter.CONNECTIONS_CLOSED)).as("seed %d", seed).isZero();
      assertIdle();
    }
  }

  // A connection breaks.

  /** An answer that has only half of its block, and perhaps sends the rest to TCP. */
  private static byte[] half(byte[] message, Located.Kind rest) {
    if (Messages.type(ByteBuffer.wrap(message)) != Messages.LOCATED) {
      return message;
    }
    Located.Decoder whole = new Located.Decoder().begin(ByteBuffer.wrap(message));
    assertThat(whole.nextExtent()).isTrue();
    int length = whole.lengthBytes() / 2;
    ByteBuffer out = ByteBuffer.allocate(MemoryShares.MESSAGE_BYTES);
    Located.Encoder half = new Located.Encoder().begin(out, whole.requestId(), 0);
    half.located(
        0, whole.address(), whole.remoteKey(), length, whole.blockOffset(), whole.blockBytes(), 0);
    if (rest != null) {
      half.byTcp(0, rest);
    }
    return Arrays.copyOf(out.array(), half.finish(whole.leaseId(), whole.leaseRemainingMs()));
  }

  /** All objects of a type of the executors, of which only one reads. */
  private <T> List<T> all(Class<T> type) throws Exception {
    return new ObjectWalk()
        .from(reader.transport()).stream().filter(type::isInstance).map(type::cast).toList();
  }

  /** Chunks of receive memory that blocks hold. */
  private int chunksOut() throws Exception {
    all(ReceiveMemory.class).forEach(ReceiveMemory::closeOpenChunk);
    return all(ReceiveMemory.class).stream().mapToInt(ReceiveMemory::chunksOut).sum();
  }

  /** Its queue pair is destroyed in the agent's next iteration. */
  private void breakConnection() throws Exception {
    for (FetchConnection connection : all(FetchConnection.class)) {
      connection.markBroken(FallbackReason.READ_ERROR, "on purpose");
    }
  }

  private void assertEnded() throws Exception {
    fabric.run(10 * MS);
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isOne();
    assertThat(reader.connections()).isZero();
    assertThat(chunksOut()).isZero();
  }

  /** The first block is read in part, and its rest is located, or wanted while others are. */
  @Test
  void shouldAnswerBlocksThatAreWantedOrLocatedWhenTheirConnectionBreaks() throws Exception {
    for (int others : new int[] {1, 300}) {
      start(1, BLOCK_BYTES);
      fabric.changeMessages(message -> half(message, null));
      fabric.delayReads(from -> 5 * MS);
      fetch(executor(1), 1);
      assertThat(fabric.runUntil(() -> reader.maxBytesInFlight > 0, LIMIT_NS)).isTrue();
      executor(1).pause();
      fetch(executor(1), others);
      fabric.run(10 * MS);
      assertThat(chunksOut()).as("memory of the first block").isOne();
      assertThat(fetches.get(0).isAnswered()).isFalse();

      breakConnection();
      assertThat(fetches.get(0).failures()).containsOnly(Map.entry(FallbackReason.READ_ERROR, 1));
      assertThat(fetches.get(1).failures())
          .containsOnly(Map.entry(FallbackReason.READ_ERROR, others));
      assertEnded();
    }
  }

  private static byte[] busy(long requestId) {
    ByteBuffer out = ByteBuffer.allocate(MemoryShares.MESSAGE_BYTES);
    Located.Encoder answer = new Located.Encoder().begin(out, requestId, 0);
    answer.byTcp(0, Located.Kind.BUSY);
    return Arrays.copyOf(out.array(), answer.finish(0, 0));
  }

  /** The third answer overwrites the first one as soon as its receive is posted again. */
  @Test
  void shouldAnswerEachBlockOfAPeerThatSendsMoreAnswersThanItWasAsked() throws Exception {
    start(1, BLOCK_BYTES);
    List<Long> ids = new ArrayList<>();
    fetch(executor(1), 1);
    awaitAnswers(LIMIT_NS);
    fabric.run(10 * MS);
    executor(1).pause();
    fabric.changeMessages(
        message -> {
          ids.add(Locate.decode(ByteBuffer.wrap(message)).requestId());
          return message;
        });
    fetch(executor(1), 1);
    fetch(executor(1), 1);
    fabric.run(MS);
    VirtualConnection own = (VirtualConnection) all(FetchConnection.class).get(0).connection;
    own.deliver(busy(ids.get(0)));
    own.deliver(busy(ids.get(0)));
    own.deliver(busy(ids.get(1)));
    awaitAnswers(LIMIT_NS);
    assertEnded();
  }

  /** The first answer leaves out half of its first block, and all others. */
  @Test
  void shouldLocateWhatAnAnswerLeavesOutWithTheReleaseOfItsLease() throws Exception {
    for (boolean breaks : new boolean[] {false, true}) {
      start(1, BLOCK_BYTES);
      List<Integer> released = new ArrayList<>();
      fabric.changeMessages(
          message -> {
            ByteBuffer bytes = ByteBuffer.wrap(message);
            if (Messages.type(bytes) == Messages.LOCATE) {
              released.add(Locate.releasedLeases(bytes));
            }
            return released.size() == 1 ? half(message, null) : message;
          });
      fabric.delayReads(from -> 5 * MS);
      VirtualFetch fetch = fetch(executor(1), 8);
      assertThat(fabric.runUntil(() -> reader.maxBytesInFlight > 0, LIMIT_NS)).isTrue();
      fabric.run(2 * MS);
      assertThat(released).as("while its READs are open").containsExactly(0);
      if (breaks) {
        breakConnection();
        assertThat(fetch.failures()).containsOnly(Map.entry(FallbackReason.READ_ERROR, 8));
        assertEnded();
      } else {
        awaitAnswers(LIMIT_NS);
        assertThat(fetch.isRead()).isTrue();
        assertThat(released).containsExactly(0, 1);
        assertIdle();
      }
    }
  }

  /**
   * The server lacks memory, which only a release gives back: it answers nothing more until then.
   */
  @Test
  void shouldReleaseTheLeaseOfAnAnswerThatIsCutAlsoWhereMoreBlocksAreWanted() throws Exception {
    start(1, BLOCK_BYTES);
    int[] answers = {0};
    List<Long> releasedNs = new ArrayList<>();
    fabric.delayMessages(
        (from, type) -> type == Messages.LOCATED && answers[0]++ > 0 ? 400 * MS : 0);
    fabric.changeMessages(
        message -> {
          ByteBuffer bytes = ByteBuffer.wrap(message);
          boolean locate = Messages.type(bytes) == Messages.LOCATE;
          if (Messages.type(bytes) == Messages.RELEASE
              || (locate && Locate.releasedLeases(bytes) > 0)) {
            releasedNs.add(fabric.nowNs());
          }
          return answers[0] == 1 ? half(message, null) : message;
        });
    fabric.delayReads(from -> 5 * MS);
    // More than two LOCATEs name.
    fetch(executor(1), 300);
    assertThat(fabric.runUntil(() -> reader.maxBytesInFlight > 0, LIMIT_NS)).isTrue();
    long readNs = fabric.nowNs() + 5 * MS;
    assertThat(fabric.runUntil(() -> !releasedNs.isEmpty(), LIMIT_NS)).isTrue();
    assertThat(releasedNs.get(0) - readNs).isBetween(0L, 10 * MS);
  }

  /** Only the destruction of a queue pair ends its READs. */
  @Test
  void shouldAnswerBlocksThatAreReadOrWaitForMemoryAtOnceAndKeepWhatReadsMayWrite()
      throws Exception {
    start(1, BLOCK_BYTES, "pool.max", "1m");
    fabric.delayReads(from -> VirtualFabric.LOST);
    VirtualFetch fetch = fetch(executor(1), 8);
    fabric.run(20 * MS);
    assertThat(all(ReceiveMemory.class)).anyMatch(ReceiveMemory::hasWaiters);
    assertThat(chunksOut()).isEqualTo(2);

    breakConnection();
    assertThat(fetch.failures()).containsOnly(Map.entry(FallbackReason.READ_ERROR, 8));
    assertThat(all(ReceiveMemory.class)).noneMatch(ReceiveMemory::hasWaiters);
    assertThat(chunksOut()).as("before the queue pair is destroyed").isEqualTo(2);
    assertEnded();
  }

  /** The device may use blocks, messages and copies until then. */
  @Test
  void shouldFreeNothingOfAConnectionBeforeItsQueuePairIsDestroyed() throws Exception {
    start(1, BLOCK_BYTES, "serve", "copy");
    fabric.delayReads(from -> VirtualFabric.LOST);
    fetch(executor(1), 1);
    fabric.run(20 * MS);
    all(ReceiveMemory.class).forEach(ReceiveMemory::closeOpenChunk);
    List<RegisteredPool> pools = all(RegisteredPool.class);
    IntSupplier chunks = () -> pools.stream().mapToInt(RegisteredPool::chunksOut).sum();
    List<Integer> atClose = new ArrayList<>();
    fabric.beforeClose(() -> atClose.add(chunks.getAsInt()));
    int before = chunks.getAsInt();

    breakConnection();
    assertThat(fabric.runUntil(() -> reader.connections() == 0, LIMIT_NS)).isTrue();
    int between = chunks.getAsInt();
    assertThat(fabric.runUntil(() -> executor(1).connections() == 0, LIMIT_NS)).isTrue();
    assertThat(atClose).containsExactly(before, between);
    assertThat(between).as("those of the reader are free").isLessThan(before);
    assertThat(chunks.getAsInt()).as("those of the server are free").isLessThan(between);
  }

  /** The answer locates its first half, of which READs are posted, and sends it to TCP. */
  @Test
  void shouldKeepTheMemoryOfABlockThatFailsInAnAnswerUntilItsReadsAreDone() throws Exception {
    for (boolean breaks : new boolean[] {false, true}) {
      start(1, BLOCK_BYTES);
      fabric.changeMessages(message -> half(message, Located.Kind.BUSY));
      fabric.delayReads(from -> 50 * MS);
      VirtualFetch fetch = fetch(executor(1), 1);
      awaitAnswers(LIMIT_NS);
      assertThat(fetch.failures()).containsOnlyKeys(FallbackReason.PEER_BUSY);
      fabric.run(40 * MS);
      assertThat(chunksOut()).as("its READs are not done").isOne();
      if (breaks) {
        breakConnection();
        assertThat(chunksOut()).as("before the queue pair is destroyed").isOne();
        assertEnded();
      } else {
        fabric.run(20 * MS);
        assertThat(chunksOut()).isZero();
        assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isZero();
      }
    }
  }

  // A reader stops while it holds leases.

  private static VirtualFetch fetch(VirtualExecutor reader, VirtualExecutor server, int maps) {
    return new VirtualFetch(reader, server.endpoint(), 0, maps, () -> {});
  }

  @Test
  void shouldKeepMemoryFromOthersForSecondsAndNotUntilItsLeaseExpires() throws Exception {
    // Room for three windows of 16 MiB.
    String[] settings = {"pinned.max", "66m", "request.timeout", "30s"};
    VirtualExecutor server = fabric.start(PARTITIONS, BLOCK_BYTES, settings);
    VirtualExecutor frozen = fabric.start(PARTITIONS, BLOCK_BYTES, settings);
    VirtualExecutor other = fabric.start(PARTITIONS, BLOCK_BYTES, settings);
    fetch(frozen, server, 3);
    assertThat(fabric.runUntil(() -> server.count(Counter.LOCATES_SERVED) == 1, 1_000 * MS))
        .isTrue();
    frozen.pause();

    VirtualFetch early = fetch(other, server, 4);
    fabric.run(2_000 * MS);
    assertThat(early.read()).isEqualTo(3);
    assertThat(early.failures()).containsOnlyKeys(FallbackReason.PEER_BUSY);

    fabric.run(4_000 * MS);
    assertThat(server.count(Counter.CONNECTIONS_CLOSED)).isEqualTo(1);
    // The peer's budget has to earn the time again that was waited for in vain.
    VirtualFetch later = early;
    for (int second = 6; second < 20 && !later.isRead(); second++) {
      later = fetch(other, server, 4);
      fabric.run(1_000 * MS);
    }
    assertThat(later.isRead()).isTrue();

    frozen.resume();
    fabric.run(50 * MS);
    VirtualFetch again = fetch(frozen, server, 3);
    fabric.run(50 * MS);
    assertThat(again.isRead()).as("it connects again").isTrue();
  }

  @Test
  void shouldKeepItsLeasesWhereNobodyLacksMemory() throws Exception {
    VirtualExecutor server = fabric.start(PARTITIONS, BLOCK_BYTES);
    VirtualExecutor frozen = fabric.start(PARTITIONS, BLOCK_BYTES);
    VirtualExecutor other = fabric.start(PARTITIONS, BLOCK_BYTES);
    fetch(frozen, server, 3);
    assertThat(fabric.runUntil(() -> server.count(Counter.LOCATES_SERVED) == 1, 1_000 * MS))
        .isTrue();
    frozen.pause();
    for (int second = 0; second < 10; second++) {
      assertThat(fetch(other, server, 4).failures()).isEmpty();
      fabric.run(1_000 * MS);
    }
    assertThat(server.count(Counter.CONNECTIONS_CLOSED)).isZero();
  }
}
