// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.shuffle.fetch.FetchingTask;
import org.sparkrdma.shuffle.fetch.ReceiveMemory;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Messages;

/** Readers that share little receive memory, some of which do not give it back, in virtual time. */
class ScarceMemoryTest extends VirtualFixture {
  private static final int BLOCK_BYTES = 256 << 10;

  /** Blocks for which there is memory. */
  private static final int POOL = 16;

  private static final long SECOND = 1_000 * MS;

  private VirtualExecutor reader;

  private VirtualExecutor start(int blockBytes) throws Exception {
    return fabric.start(blockBytes, "pool.max", "4m");
  }

  /** A reader that has a connection to a server. */
  private VirtualExecutor connect(int blockBytes) throws Exception {
    VirtualExecutor server = start(blockBytes);
    reader = reader == null ? start(BLOCK_BYTES) : reader;
    assertReads(reader, server.endpoint());
    fabric.run(SECOND);
    return server;
  }

  private VirtualFetch fetch(VirtualExecutor server, int blocks, FetchingTask task, boolean keeps) {
    return new VirtualFetch(reader, server.endpoint(), 0, blocks, () -> {}, task, keeps);
  }

  private static FetchingTask unknown() {
    return new FetchingTask(null);
  }

  private static FetchingTask known() {
    return FetchingTask.ofReader(null);
  }

  /** Opens its blocks one after another, which gives their memory back. */
  private void openAll(VirtualFetch fetch) {
    while (fetch.open()) {
      fabric.run(MS);
    }
  }

  @Test
  void shouldLoseLittleWhileOtherTasksKeepAllMemory() throws Exception {
    VirtualExecutor server = connect(BLOCK_BYTES);
    VirtualFetch other = fetch(server, POOL, unknown(), true);
    fabric.run(SECOND);
    assertThat(other.isRead()).isTrue();
    VirtualTask task = new VirtualTask(fabric, reader, List.of(server), 1, 10 * MS);
    fabric.run(60 * SECOND);
    task.end();
    fabric.run(SECOND);
    assertThat(task.failures()).containsOnlyKeys(FallbackReason.POOL_EMPTY);
    assertThat(task.lostNs()).isLessThanOrEqualTo(250 * MS + 60 * SECOND / 50);
    assertThat(reader.count(Counter.MEMORY_WAITS_IN_VAIN)).isPositive();
    openAll(other);
  }

  /**
   * Readers that have opened all that they got, and do not read on: each waits for more, and none
   * gives anything back.
   */
  @ParameterizedTest
  @CsvSource({"60,4", "1,64"})
  void shouldLoseLittleWhileReadersKeepAllMemoryInOpenBlocks(int readers, int blocks)
      throws Exception {
    VirtualExecutor server = connect(BLOCK_BYTES);
    List<VirtualFetch> open = new ArrayList<>();
    for (int i = 0; i < readers; i++) {
      open.add(fetch(server, blocks, known(), true));
    }
    for (int i = 0; i < 10; i++) {
      fabric.run(10 * MS);
      open.forEach(VirtualFetch::openAll);
    }
    assertThat(open.stream().mapToInt(VirtualFetch::read).sum())
        .as("no memory left")
        .isEqualTo(POOL);
    List<VirtualTask> tasks = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      tasks.add(new VirtualTask(fabric, reader, List.of(server), 1, 10 * MS));
    }
    for (int second = 0; second < 40; second++) {
      fabric.run(SECOND);
      open.forEach(VirtualFetch::openAll);
    }
    assertThat(tasks).allMatch(task -> task.read() == 0 && task.answered() > 3_000);
    tasks.forEach(task -> assertLosesLittle(task, 40 * SECOND));
    assertThat(open).allMatch(VirtualFetch::isAnswered);
    open.forEach(this::openAll);
    fabric.run(100 * MS);
    int[] before = tasks.stream().mapToInt(task -> task.answered() - task.read()).toArray();
    fabric.run(10 * SECOND);
    for (int i = 0; i < before.length; i++) {
      VirtualTask task = tasks.get(i);
      assertThat(task.answered() - task.read()).as("all by READ again").isEqualTo(before[i]);
      task.end();
    }
    fabric.run(SECOND);
  }

  /** Tasks fetch the second input of a join early, and open it when they have read the first. */
  @Test
  void shouldReadTheFirstInputOfAJoinBesideTheSecondWhichIsNotOpened() throws Exception {
    VirtualExecutor server = connect(BLOCK_BYTES);
    VirtualFetch second = fetch(server, 3 * POOL, known(), true);
    fabric.run(SECOND);
    assertThat(second.read()).isEqualTo(POOL * 3 / 4);
    VirtualFetch first = fetch(server, 40, known(), false);
    fabric.run(100 * MS);
    assertThat(first.isRead()).isTrue();
    fabric.run(10 * SECOND);
    assertThat(second.failures()).as("no task waits for it").isEmpty();
    for (int i = 0; i < 3 * POOL; i++) {
      assertThat(second.open()).isTrue();
      fabric.run(10 * MS);
    }
    assertThat(second.isRead()).isTrue();
    assertThat(reader.count(Counter.MEMORY_WAITS_IN_VAIN)).isZero();
  }

  @Test
  void shouldGiveAPeerWhoseReadsHangHalfOfTheMemoryThatIsFreedAtOnce() throws Exception {
    VirtualExecutor sick = connect(BLOCK_BYTES);
    VirtualExecutor well = connect(BLOCK_BYTES);
    VirtualFetch other = fetch(well, POOL, unknown(), true);
    fabric.run(SECOND);
    assertThat(other.isRead()).isTrue();
    fabric.delayReads(from -> from == sick ? VirtualFabric.LOST : 0);
    fetch(sick, POOL, unknown(), false);
    fabric.run(10 * MS);
    for (int i = 0; i < POOL; i++) {
      assertThat(other.open()).isTrue();
    }
    fabric.run(10 * MS);
    VirtualFetch fetch = fetch(well, 4, unknown(), false);
    fabric.run(10 * MS);
    assertThat(fetch.isRead()).isTrue();
  }

  /** The network is the limit: each of its blocks waits longer than one may in vain. */
  @Test
  void shouldReadAllBlocksOfAReaderThatGetsOthersWhileTheyWait() throws Exception {
    VirtualExecutor server = connect(BLOCK_BYTES);
    fabric.delayReads(from -> 10 * MS);
    VirtualFetch fetch = fetch(server, 100, known(), false);
    fabric.run(2 * SECOND);
    assertThat(fetch.failures()).isEmpty();
    assertThat(fetch.isRead()).isTrue();
    assertThat(reader.count(Counter.MEMORY_WAITS_IN_VAIN)).isZero();
  }

  /** The memory that it gets is never enough for its large block. */
  @Test
  void shouldLeaveABlockToTcpThatWaitsForTheTimeOfARequestBesideOthersThatItsReaderGets()
      throws Exception {
    VirtualExecutor server = connect(BLOCK_BYTES);
    VirtualExecutor large = connect(3 << 20);
    VirtualExecutor small = connect(4 << 10);
    VirtualFetch other = fetch(server, POOL / 2, unknown(), true);
    fabric.run(SECOND);
    FetchingTask task = known();
    VirtualFetch waits = fetch(large, 1, task, false);
    long sinceNs = fabric.nowNs();
    while (!waits.isAnswered() && fabric.nowNs() - sinceNs < 60 * SECOND) {
      fetch(small, 1, task, false);
      fabric.run(100 * MS);
    }
    assertThat(waits.failures()).containsOnlyKeys(FallbackReason.POOL_EMPTY);
    assertThat(fabric.nowNs() - sinceNs).isBetween(25 * SECOND, 35 * SECOND);
    openAll(other);
  }

  /** The last quarter is for known readers, also where the other one waits first. */
  @Test
  void shouldReadBesideABlockOfAnUnknownReaderThatMayNotHaveTheLastMemory() throws Exception {
    VirtualExecutor server = connect(BLOCK_BYTES);
    VirtualFetch other = fetch(server, POOL, known(), true);
    fabric.run(SECOND);
    assertThat(other.read()).isEqualTo(POOL * 3 / 4);
    VirtualFetch unknown = fetch(server, 1, unknown(), false);
    fabric.run(10 * MS);
    VirtualFetch fetch = fetch(server, 8, known(), false);
    fabric.run(20 * MS);
    assertThat(unknown.isAnswered()).isFalse();
    assertThat(fetch.isRead()).isTrue();
    while (other.open() || !other.isAnswered()) {
      fabric.run(MS);
    }
  }

  /** A task that has opened all that it has got waits; its blocks use TCP after a moment. */
  @Test
  void shouldEndTheWaitsOfAReaderThatBecomesHungry() throws Exception {
    VirtualExecutor server = connect(BLOCK_BYTES);
    VirtualExecutor small = connect(4 << 10);
    VirtualExecutor large = connect(2 * BLOCK_BYTES);
    VirtualFetch other = fetch(server, POOL - 1, unknown(), true);
    fabric.run(SECOND);
    FetchingTask task = known();
    VirtualFetch own = fetch(small, 1, task, true);
    fabric.run(SECOND);
    assertThat(own.isRead()).isTrue();
    VirtualFetch more = fetch(large, 4, task, true);
    fabric.run(20 * SECOND);
    assertThat(more.isAnswered()).as("it has a block to open").isFalse();
    assertThat(own.open()).isTrue();
    fabric.run(300 * MS);
    assertThat(more.isAnswered()).isTrue();
    assertThat(more.failures()).containsOnlyKeys(FallbackReason.POOL_EMPTY);
    openAll(other);
  }

  @Test
  void shouldLeaveBlocksToTcpThatAReaderDoesNotWantForTheTimeOfARequest() throws Exception {
    VirtualExecutor server = connect(BLOCK_BYTES);
    VirtualFetch fetch = fetch(server, 2 * POOL, known(), true);
    fabric.run(29 * SECOND);
    assertThat(fetch.isAnswered()).isFalse();
    fabric.run(2 * SECOND);
    assertThat(fetch.isAnswered()).isTrue();
    assertThat(fetch.failures()).containsOnlyKeys(FallbackReason.POOL_EMPTY);
    openAll(fetch);
  }

  /** More blocks than the whole memory has room for are read from the peer that hangs. */
  @Test
  void shouldReadFromAWellPeerWhileReadsFromAnotherHang() throws Exception {
    VirtualExecutor sick = connect(BLOCK_BYTES);
    VirtualExecutor well = connect(BLOCK_BYTES);
    fabric.delayReads(from -> from == sick ? VirtualFabric.LOST : 0);
    fetch(sick, 4 * POOL, known(), false);
    fabric.run(10 * MS);
    VirtualFetch fetch = fetch(well, 10, known(), false);
    fabric.run(10 * MS);
    assertThat(fetch.isRead()).isTrue();
  }

  /** Three peers whose READs hang could hold all memory together. */
  @Test
  void shouldEndTheOldestSuspectConnectionWhenTheyHoldHalfOfTheMemory() throws Exception {
    VirtualExecutor[] sick = new VirtualExecutor[3];
    for (int i = 0; i < sick.length; i++) {
      sick[i] = connect(BLOCK_BYTES);
    }
    VirtualExecutor well = connect(BLOCK_BYTES);
    fabric.delayReads(from -> from == well ? 0 : VirtualFabric.LOST);
    for (VirtualExecutor each : sick) {
      fetch(each, POOL / 3, known(), false);
      fabric.run(10 * MS);
    }
    fabric.run(600 * MS);
    assertThat(reader.count(Counter.PEERS_SUSPECT)).isEqualTo(3);
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isEqualTo(2);
    VirtualFetch fetch = fetch(well, POOL / 2, known(), true);
    fabric.run(10 * MS);
    assertThat(fetch.isRead()).isTrue();
    openAll(fetch);
  }

  /** More READs than a send queue has room for: the others are never posted. */
  @Test
  void shouldFreeMemoryOfBlocksWhoseReadsAreNeverPosted() throws Exception {
    int bytes = 16 << 10;
    VirtualExecutor sick = connect(bytes);
    AtomicInteger reads = new AtomicInteger();
    fabric.delayReads(from -> reads.getAndIncrement() == 0 ? 2 * SECOND : 0);
    VirtualFetch fetch = fetch(sick, 120, known(), false);
    fabric.run(600 * MS);
    assertThat(fetch.failures()).containsOnlyKeys(FallbackReason.SLOW_PEER);
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isZero();
    ReceiveMemory memory = reader.transport().shared().receiveMemory();
    memory.closeOpenChunk();
    assertThat(memory.chunksOut()).isPositive().isLessThanOrEqualTo(POOL / 4);
    fabric.run(10 * SECOND);
    assertThat(reader.count(Counter.HEDGED_BYTES)).isBetween(30L * bytes, 60L * bytes);
  }

  /** Of each peer two short blocks, which blocks of others have kept apart. */
  @Test
  void shouldCountWholeChunksThatSuspectConnectionsKeepFromOthers() throws Exception {
    List<VirtualExecutor> sick = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      sick.add(connect(4 << 10));
    }
    VirtualExecutor well = connect(BLOCK_BYTES);
    fabric.delayReads(from -> sick.contains(from) ? VirtualFabric.LOST : 0);
    Set<VirtualExecutor> answered = new HashSet<>();
    fabric.delayMessages((from, type) -> sick.contains(from) && !answered.add(from) ? 5 * MS : 0);
    for (VirtualExecutor each : sick) {
      // The second LOCATE is sent before a READ hangs, which holds up what follows.
      fetch(each, 1, unknown(), false);
      fetch(each, 1, unknown(), false);
      fabric.run(2 * MS);
      assertReads(reader, well.endpoint());
      fabric.run(5 * MS);
      assertReads(reader, well.endpoint());
    }
    assertThat(reader.sinks).as("READs that hang").hasSize(10);
    fabric.run(600 * MS);
    assertThat(reader.count(Counter.PEERS_SUSPECT)).isEqualTo(5);
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isEqualTo(1);
    VirtualFetch fetch = fetch(well, POOL / 2 - 1, known(), true);
    fabric.run(10 * MS);
    assertThat(fetch.isRead()).isTrue();
    openAll(fetch);
  }

  /** Its blocks have memory, and are located again; no READ is posted that may write it. */
  @Test
  void shouldKeepASuspectConnectionWhoseMemoryIsFree() throws Exception {
    VirtualExecutor sick = connect(BLOCK_BYTES);
    VirtualFetch other = fetch(sick, POOL, unknown(), true);
    fabric.run(SECOND);
    VirtualFetch fetch = fetch(sick, POOL / 2, unknown(), false);
    fabric.run(10 * MS);
    fabric.delayMessages((from, type) -> type == Messages.LOCATED ? VirtualFabric.LOST : 0);
    while (other.open()) {
      fabric.run(MS / 100);
    }
    fabric.run(600 * MS);
    assertThat(fetch.failures()).containsOnlyKeys(FallbackReason.SLOW_PEER);
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isZero();
  }

  @Test
  void shouldLetSmallBlocksPassALargeOneThatWaits() throws Exception {
    VirtualExecutor server = connect(BLOCK_BYTES);
    VirtualExecutor large = connect(3 << 20);
    VirtualExecutor small = connect(4 << 10);
    VirtualFetch other = fetch(server, POOL / 2, unknown(), true);
    fabric.run(SECOND);
    VirtualFetch waits = fetch(large, 1, unknown(), false);
    fabric.run(20 * MS);
    assertThat(waits.isAnswered()).isFalse();
    VirtualFetch passes = fetch(small, 100, unknown(), false);
    fabric.run(20 * MS);
    assertThat(passes.isRead()).isTrue();
    assertThat(waits.isAnswered()).isFalse();
    openAll(other);
    fabric.run(20 * MS);
    assertThat(waits.isRead()).isTrue();
  }

  /** As many bytes may pass a block as it needs itself: it is not starved. */
  @Test
  void shouldServeALargeBlockBesideSmallOnesThatNeverEnd() throws Exception {
    VirtualExecutor large = connect(2 << 20);
    VirtualExecutor small = connect(BLOCK_BYTES);
    VirtualFetch waits = null;
    ArrayDeque<VirtualFetch> kept = new ArrayDeque<>();
    for (int i = 0; i < 100; i++) {
      kept.add(fetch(small, 1, unknown(), true));
      fabric.run(MS);
      if (kept.size() > 10) {
        // Those behind the large block have no memory to give back.
        kept.poll().open();
      }
      waits = i == 20 ? fetch(large, 1, unknown(), false) : waits;
    }
    assertThat(waits.isRead()).isTrue();
    kept.forEach(VirtualFetch::open);
  }
}
