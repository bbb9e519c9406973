// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Messages;
import org.sparkrdma.verbs.cm.ConnectionEvent;

/**
 * A task whose peers are sick, in virtual time: it waits little longer than with {@code mode=off},
 * which waits for TCP alone.
 */
@Tag("slow")
@Timeout(300)
class SickPeersTest extends VirtualFixture {
  private static final int BLOCK_BYTES = 64 << 10;
  private static final long SECOND = 1_000 * MS;

  private VirtualExecutor reader;

  @BeforeEach
  void start() throws Exception {
    renewFabric();
    reader = fabric.start(BLOCK_BYTES);
  }

  private List<VirtualExecutor> servers(int count) throws Exception {
    return servers(count, BLOCK_BYTES);
  }

  private void runUntil(VirtualTask task, long lengthNs) {
    fabric.run(lengthNs);
    task.end();
    fabric.run(SECOND);
    assertThat(task.answered()).as("it does not hang").isPositive();
  }

  private void cutOff(List<VirtualExecutor> sick) {
    fabric.delayEvents(
        (to, type) ->
            sick.contains(to) && type == ConnectionEvent.Type.CONNECT_REQUEST
                ? VirtualFabric.LOST
                : 0);
  }

  @Test
  void shouldLoseLittleToAPeerThatCannotBeReached() throws Exception {
    List<VirtualExecutor> sick = servers(1);
    cutOff(sick);
    VirtualTask task = new VirtualTask(fabric, reader, sick, 1, 10 * MS);
    runUntil(task, 60 * SECOND);
    assertThat(task.read()).isZero();
    assertLosesLittle(task, 0);
    assertThat(reader.requests).as("attempts go on").isBetween(2, 5);
    fabric.delayEvents((to, type) -> 0);
    VirtualTask after = new VirtualTask(fabric, reader, sick, 1, 10 * MS);
    fabric.run(60 * SECOND);
    int before = after.read();
    runUntil(after, 20 * SECOND);
    assertThat(after.read() - before).as("well again").isGreaterThan(1_500);
  }

  /** Their attempts hang; more than may be open at once. It is asked often, or each 12 s. */
  @ParameterizedTest
  @CsvSource({"1, 600", "300, 2400"})
  void shouldReadFromAWellPeerBesideFortyThatCannotBeReached(long workMs, long seconds)
      throws Exception {
    long lengthNs = seconds * SECOND;
    List<VirtualExecutor> servers = servers(41);
    cutOff(servers.subList(0, 40));
    VirtualTask task = new VirtualTask(fabric, reader, servers, 1, workMs * MS);
    runUntil(task, lengthNs);
    assertLosesLittle(task, lengthNs);
    double share = task.readOf(40) / (task.answered() / 41.0);
    assertThat(share).as("by READ from the well one").isGreaterThan(0.95);
  }

  @Test
  void shouldConnectToAWellPeerBehindFortyAttemptsThatHang() throws Exception {
    List<VirtualExecutor> servers = servers(41);
    cutOff(servers.subList(0, 40));
    servers.subList(0, 40).forEach(sick -> new VirtualFetch(reader, sick.endpoint()));
    fabric.run(MS);
    VirtualFetch well = new VirtualFetch(reader, servers.get(40).endpoint());
    fabric.run(110 * MS);
    assertThat(well.isRead()).isTrue();
  }

  @Test
  void shouldLoseLittleToAPeerWhoseReadsHang() throws Exception {
    List<VirtualExecutor> sick = servers(1);
    fabric.delayReads(from -> VirtualFabric.LOST);
    VirtualTask task = new VirtualTask(fabric, reader, sick, 1, 10 * MS);
    runUntil(task, 300 * SECOND);
    assertThat(task.failures()).containsKey(FallbackReason.SLOW_PEER);
    assertLosesLittle(task, 100 * SECOND);
    assertThat(reader.count(Counter.PEERS_SUSPECT)).isBetween(2L, 20L);
    assertThat(reader.count(Counter.PEER_WAITS_IN_VAIN)).isBetween(500L, 3_000L);
  }

  /** Each delivered block shows that the peer is well, and the next one hangs. */
  @Test
  void shouldLoseLittleToAPeerWhoseEverySecondReadHangs() throws Exception {
    List<VirtualExecutor> sick = servers(1);
    int[] reads = {0};
    fabric.delayReads(from -> reads[0]++ % 2 == 1 ? VirtualFabric.LOST : 0);
    VirtualTask task = new VirtualTask(fabric, reader, sick, 1, 10 * MS);
    runUntil(task, 600 * SECOND);
    assertThat(task.read()).isPositive();
    assertLosesLittle(task, 600 * SECOND);
  }

  /** Each wait has a result, after most of what it may take. */
  @Test
  void shouldLoseLittleToAPeerThatAnswersJustBeforeItsLimit() throws Exception {
    for (boolean late : new boolean[] {false, true}) {
      start();
      List<VirtualExecutor> sick = servers(1);
      fabric.delayReads(from -> late ? 0 : 480 * MS);
      fabric.delayMessages((from, type) -> late && type == Messages.LOCATED ? 480 * MS : 0);
      VirtualTask task = new VirtualTask(fabric, reader, sick, 1, 10 * MS);
      runUntil(task, 100 * SECOND);
      assertThat(task.read()).as("some in each while").isGreaterThan(3);
      assertLosesLittle(task, 100 * SECOND);
      assertThat(reader.count(Counter.PEERS_QUARANTINED)).isPositive();
    }
  }

  /** As in a network that is slow for TCP, too. */
  @Test
  void shouldReadAllBlocksOfAPeerWhoseWaitsAreLongButUsual() throws Exception {
    List<VirtualExecutor> slow = servers(1);
    fabric.delayReads(from -> 90 * MS);
    VirtualTask task = new VirtualTask(fabric, reader, slow, 1, 10 * MS);
    runUntil(task, 60 * SECOND);
    assertThat(task.failures()).isEmpty();
    assertThat(task.read()).isGreaterThan(500);
  }

  /** What TCP takes there says nothing of other peers. */
  @Test
  void shouldCompareAPeerWithItsOwnTcpOnly() throws Exception {
    List<VirtualExecutor> servers = servers(2);
    fabric.delayReads(from -> 450 * MS);
    VirtualTask frozen = new VirtualTask(fabric, reader, servers.subList(0, 1), 1, 10 * MS);
    frozen.slowTcp(20 * SECOND);
    runUntil(frozen, 60 * SECOND);
    VirtualTask slow = new VirtualTask(fabric, reader, servers.subList(1, 2), 1, 10 * MS);
    runUntil(slow, 100 * SECOND);
    assertLosesLittle(slow, 100 * SECOND);
  }

  /** On a host whose processors are all busy, for example. */
  @Test
  void shouldReadMostBlocksOfASlowPeerWhereTcpIsAsSlow() throws Exception {
    List<VirtualExecutor> slow = servers(1);
    fabric.delayReads(from -> 300 * MS);
    VirtualTask task = new VirtualTask(fabric, reader, slow, 1, 10 * MS);
    task.slowTcp(300 * MS);
    runUntil(task, 100 * SECOND);
    assertThat(task.read()).isGreaterThan(9 * task.answered() / 10);
    assertThat(task.failures()).containsOnlyKeys(FallbackReason.SLOW_PEER);
  }

  /** A block of a request shows how long TCP takes, and not all of them. */
  @Test
  void shouldCompareASlowPeerWithTcpByOneBlock() throws Exception {
    List<VirtualExecutor> slow = servers(1);
    fabric.delayMessages((from, type) -> type == Messages.LOCATED ? 300 * MS : 0);
    VirtualTask task = new VirtualTask(fabric, reader, slow, 16, 10 * MS);
    task.slowTcp(300 * MS);
    runUntil(task, 100 * SECOND);
    assertThat(task.answered()).isGreaterThan(100);
    assertThat(task.failures()).containsOnlyKeys(FallbackReason.SLOW_PEER);
    assertThat(task.failures().get(FallbackReason.SLOW_PEER)).isLessThan(task.answered() / 8);
  }

  /** The LOCATE arrives, and its answer does not. */
  @Test
  void shouldLoseLittleToAPeerThatAnswersNothing() throws Exception {
    List<VirtualExecutor> sick = servers(1);
    assertReads(reader, sick.get(0).endpoint());
    sick.get(0).pause();
    VirtualTask task = new VirtualTask(fabric, reader, sick, 1, 10 * MS);
    runUntil(task, 300 * SECOND);
    assertLosesLittle(task, 100 * SECOND);
  }

  /** A server that has a millisecond for a cold block leaves it to TCP. */
  @Test
  void shouldGiveAPeerTimeToAnswerTheFirstRequestAfterAQuarantine() throws Exception {
    List<VirtualExecutor> sick = servers(1);
    List<Integer> timeoutsMs = new ArrayList<>();
    fabric.changeMessages(
        message -> {
          if (message[0] == Messages.LOCATE) {
            ByteBuffer locate = ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
            timeoutsMs.add(Locate.decode(locate).timeoutMs());
          }
          return message;
        });
    VirtualTask task = new VirtualTask(fabric, reader, sick, 1, MS);
    fabric.run(SECOND);
    sick.get(0).pause();
    fabric.run(600 * MS);
    sick.get(0).resume();
    runUntil(task, 30 * SECOND);
    assertThat(task.failures()).containsKey(FallbackReason.QUARANTINED);
    assertThat(timeoutsMs).allMatch(timeoutMs -> timeoutMs >= 20);
  }

  /** Its own pauses say nothing about its peers. */
  @Test
  void shouldChargeNoPeerWithPausesOfTheReaderItself() throws Exception {
    List<VirtualExecutor> servers = servers(1);
    VirtualTask task = new VirtualTask(fabric, reader, servers, 1, MS);
    for (int i = 0; i < 20; i++) {
      fabric.run(7 * SECOND + 311_000);
      reader.pause();
      fabric.run(20 * SECOND);
      reader.resume();
    }
    runUntil(task, SECOND);
    assertThat(task.failures()).isEmpty();
    assertThat(reader.count(Counter.PEERS_SUSPECT)).isZero();
  }

  /** It was late before the wait began. */
  @Test
  void shouldNotWaitLongerForAPeerThatIsAskedAtTheEndOfAPauseOfTheReader() throws Exception {
    List<VirtualExecutor> sick = servers(1);
    assertReads(reader, sick.get(0).endpoint());
    sick.get(0).pause();
    reader.pause();
    fabric.run(20 * SECOND);
    VirtualFetch fetch = new VirtualFetch(reader, sick.get(0).endpoint());
    fabric.run(MS);
    reader.resume();
    assertThat(fabric.runUntil(fetch::isAnswered, 600 * MS)).isTrue();
    assertThat(fetch.failures()).containsOnlyKeys(FallbackReason.SLOW_PEER);
  }

  /** All connections of the first stage take longer than a fetch waits. */
  @Test
  void shouldReadFromHundredsOfPeersAfterTheirFirstConnectionsTookLong() throws Exception {
    List<VirtualExecutor> servers = servers(300);
    fabric.delayEvents(
        (to, type) -> to == reader && type == ConnectionEvent.Type.ESTABLISHED ? 700 * MS : 0);
    List<VirtualFetch> first =
        servers.stream().map(server -> new VirtualFetch(reader, server.endpoint())).toList();
    assertThat(fabric.runUntil(() -> first.stream().allMatch(VirtualFetch::isAnswered), 600 * MS))
        .isTrue();
    fabric.run(10 * SECOND);
    fabric.delayEvents((to, type) -> 0);
    List<VirtualFetch> next =
        servers.stream().map(server -> new VirtualFetch(reader, server.endpoint())).toList();
    fabric.run(100 * MS);
    assertThat(next).allMatch(VirtualFetch::isRead);
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
  }

  /** Each request needs the room of the other's connection, and each connection takes long. */
  @Test
  void shouldLoseLittleToConnectionsThatComeLateAgainAndAgain() throws Exception {
    VirtualExecutor one = fabric.start(BLOCK_BYTES, "connections.max", "1");
    fabric.delayEvents(
        (to, type) -> to == one && type == ConnectionEvent.Type.ESTABLISHED ? 300 * MS : 0);
    VirtualTask task = new VirtualTask(fabric, one, servers(2), 1, 10 * MS);
    runUntil(task, 60 * SECOND);
    // A tenth of a second of each wait with a result is free, until the budget is spent.
    assertThat(task.lostNs()).isLessThanOrEqualTo(mayLoseNs(60 * SECOND) + 500 * MS);
  }

  /** A connection that ends at once costs no wait, but a queue pair at both ends. */
  @Test
  void shouldConnectSeldomToAPeerWhoseReadsFailAtOnce() throws Exception {
    List<VirtualExecutor> sick = servers(1);
    fabric.reject(sick.get(0).address, ConnectionEvent.Type.REJECTED, (byte) 99);
    VirtualTask task = new VirtualTask(fabric, reader, sick, 1, MS);
    runUntil(task, 60 * SECOND);
    assertThat(reader.requests).isBetween(40, 85);
    assertLosesLittle(task, 0);
  }

  /** A task finds it out when the block was delivered, and nothing is open any more. */
  @Test
  void shouldQuarantineAPeerWhoseDataAreCorruptAlsoOnAnIdleConnection() throws Exception {
    VirtualExecutor server = servers(1).get(0);
    List<BlockRange> blocks = List.of(new BlockRange(0, 0, 0, 1));
    int corrupt = 0;
    for (int i = 0; i < 600; i++) {
      VirtualFetch fetch = new VirtualFetch(reader, server.endpoint());
      fabric.run(90 * MS);
      if (fetch.isRead()) {
        corrupt++;
        reader.transport().onCorruptData(FetchHandler.request(server.endpoint(), blocks, fetch));
        fabric.run(10 * MS);
        assertThat(reader.connections()).isZero();
      } else {
        assertThat(fetch.failures()).containsOnlyKeys(FallbackReason.QUARANTINED);
      }
    }
    assertThat(corrupt).as("of 600 blocks in a minute").isBetween(2, 12);
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isEqualTo(corrupt);
  }

  @Test
  void shouldCountBlocksBesideACorruptOneAsThoseOfALostPeer() throws Exception {
    VirtualExecutor server = servers(1).get(0);
    fabric.delayReads(from -> 50 * MS);
    VirtualFetch open = new VirtualFetch(reader, server.endpoint());
    fabric.run(10 * MS);
    List<BlockRange> blocks = List.of(new BlockRange(0, 1, 0, 1));
    reader.transport().onCorruptData(FetchHandler.request(server.endpoint(), blocks, open));
    fabric.run(10 * MS);
    assertThat(open.failures()).containsOnlyKeys(FallbackReason.LOST_PEER);
  }

  /**
   * With a congested network, for example: each wait is longer than the shortest that may begin.
   */
  @Test
  void shouldReadAgainFromASlowPeerThatHungOnce() throws Exception {
    List<VirtualExecutor> slow = servers(1);
    fabric.delayReads(from -> 300 * MS);
    VirtualTask task = new VirtualTask(fabric, reader, slow, 1, 10 * MS);
    fabric.run(20 * SECOND);
    assertThat(task.read()).isPositive();
    fabric.delayReads(from -> 2_000 * MS);
    fabric.run(20 * SECOND);
    assertThat(task.failures()).containsKey(FallbackReason.SLOW_PEER);
    fabric.delayReads(from -> 300 * MS);
    fabric.run(60 * SECOND);
    int readBefore = task.read();
    runUntil(task, 30 * SECOND);
    assertThat(task.read() - readBefore).as("each costs 200 of 600 ms").isBetween(2, 5);
  }

  /** Faults of all kinds come and go, of several peers at once. */
  @Test
  void shouldLoseLittleWhateverThePatternOfFaults() throws Exception {
    for (int seed = 1; seed <= 10; seed++) {
      start();
      Random random = new Random(seed);
      List<VirtualExecutor> servers = servers(1 + random.nextInt(6));
      boolean[] cut = new boolean[servers.size() + 1];
      boolean[] hangs = new boolean[servers.size() + 1];
      int lostPercent = random.nextInt(20);
      fabric.delayEvents((to, type) -> lost(cut[fabric.executors().indexOf(to)]));
      fabric.delayReads(
          from ->
              lost(
                  hangs[fabric.executors().indexOf(from)]
                      && random.nextInt(100) < 5 * lostPercent));
      fabric.delayMessages((from, type) -> lost(random.nextInt(2_000) < lostPercent));
      List<VirtualTask> tasks = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        tasks.add(new VirtualTask(fabric, reader, servers, 1 + random.nextInt(5), 10 * MS));
      }
      long lengthNs = 100 * SECOND;
      for (long atNs = 0; atNs < lengthNs; ) {
        long stepNs = (1 + random.nextInt(3_000)) * MS;
        VirtualExecutor server = servers.get(random.nextInt(servers.size()));
        int number = fabric.executors().indexOf(server);
        switch (random.nextInt(6)) {
          case 0 -> cut[number] ^= true;
          case 1, 2 -> hangs[number] ^= true;
          case 3 -> server.pause();
          default -> server.resume();
        }
        fabric.run(stepNs);
        atNs += stepNs;
      }
      tasks.forEach(VirtualTask::end);
      fabric.run(SECOND);
      for (VirtualTask task : tasks) {
        assertThat(task.lostNs())
            .as("seed %d: %d of %d by READ %s", seed, task.read(), task.answered(), task.failures())
            .isLessThanOrEqualTo(1_500 * MS + lengthNs / 50 + 40 * MS + shortWaitsNs(task));
      }
      servers.forEach(VirtualExecutor::resume);
      fabric.delayEvents((to, type) -> 0);
      fabric.delayReads(from -> 0);
      fabric.delayMessages((from, type) -> 0);
      assertReadsAgain(servers, "seed " + seed);
    }
  }

  /** A while after the end of all faults. */
  private void assertReadsAgain(List<VirtualExecutor> servers, String what) {
    VirtualTask after = new VirtualTask(fabric, reader, servers, 1, 10 * MS);
    fabric.run(60 * SECOND);
    int readBefore = after.read();
    int answeredBefore = after.answered();
    runUntil(after, 5 * SECOND);
    assertThat(after.read() - readBefore)
        .as(what)
        .isGreaterThan((after.answered() - answeredBefore) * 95 / 100);
  }

  /** Waits with a result may be longer than by TCP, but none is by much. */
  private static long shortWaitsNs(VirtualTask task) {
    return task.read() * MS / 2;
  }

  private static long lost(boolean lost) {
    return lost ? VirtualFabric.LOST : 0;
  }

  /** What was begun goes on, and its end shows that the peer is well. */
  @Test
  void shouldReadAgainWhenLateReadsHaveEnded() throws Exception {
    List<VirtualExecutor> servers = servers(1);
    assertReads(reader, servers.get(0).endpoint());
    fabric.delayReads(from -> 3 * SECOND);
    VirtualFetch late = new VirtualFetch(reader, servers.get(0).endpoint());
    assertThat(fabric.runUntil(late::isAnswered, 600 * MS)).isTrue();
    assertThat(late.failures()).containsOnlyKeys(FallbackReason.SLOW_PEER);
    assertThat(reader.transport().shared().readLimit().postedBytes()).isZero();
    assertThat(reader.count(Counter.RDMA_BYTES_READ)).isZero();
    fabric.delayReads(from -> 0);
    fabric.run(10 * SECOND);
    assertThat(reader.count(Counter.HEDGED_BYTES)).isEqualTo(BLOCK_BYTES);
    VirtualFetch next = new VirtualFetch(reader, servers.get(0).endpoint());
    fabric.run(10 * MS);
    assertThat(next.isRead()).isTrue();
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isZero();
  }
}
