// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.transport.ScriptedReader.Task;
import org.sparkrdma.verbs.VerbsException;

/** A receive pool that is smaller than what tasks have in flight, in virtual time. */
@Timeout(60)
class PoolPressureTest {
  private static final int KIB = 1 << 10;
  private static final int POOL = 64 * ScriptedReader.CHUNK_BYTES;
  private static final long NO_COPIES = 0;
  private static final long COPIES = 64L << 20;
  private static final int LONGEST_WAIT_MS = 40;

  private ScriptedReader reader;

  @AfterEach
  void close() {
    reader.close();
    assertThat(reader.sinks().chunksOut()).as("chunks still held").isZero();
  }

  private static int[] blocks(int count, int lengthBytes) {
    int[] lengths = new int[count];
    Arrays.fill(lengths, lengthBytes);
    return lengths;
  }

  private static int[] maps(int from, int to) {
    return IntStream.range(from, to).toArray();
  }

  @Test
  void shouldSendABlockThatNeverFitsByTcpAtOnce() throws VerbsException {
    reader = new ScriptedReader(POOL, COPIES, POOL / 2 + 1, 10 * KIB);
    Task task = reader.task(1).fetch(0, 1);
    reader.run(2);
    assertThat(task.failures()).containsExactly(FallbackReason.POOL_EMPTY);
    assertThat(task.lastAnswerMs()).isLessThanOrEqualTo(2);
    assertThat(task.blocksHeld()).isEqualTo(1);
    task.releaseAll();
  }

  @Test
  void shouldReadABlockOfHalfThePool() throws VerbsException {
    reader = new ScriptedReader(POOL, COPIES, POOL / 2);
    Task task = reader.task(1).fetch(0);
    reader.run(2);
    assertThat(task.blocksHeld()).isEqualTo(1);
    task.releaseAll();
  }

  /** The unread side of a join keeps what it got while the other side is read. */
  @Test
  void shouldReadEveryBlockWhileAnotherReaderReleasesNothing() throws VerbsException {
    reader = new ScriptedReader(POOL, COPIES, blocks(80, 50 * KIB));
    Task unread = reader.task(1).fetch(maps(0, 40));
    for (int map = 0; map < 40; map++) {
      reader.step();
    }
    Task read = reader.task(2).fetch(maps(40, 80));
    for (int map = 0; map < 40; map++) {
      reader.step();
      read.releaseAll();
    }
    assertThat(unread.failures()).isEmpty();
    assertThat(read.failures()).isEmpty();
    assertThat(unread.blocksHeld()).isEqualTo(40);
    assertThat(reader.counters().value(Counter.BLOCKS_COPIED)).isPositive();
    assertThat(reader.sinks().chunksOut()).isLessThanOrEqualTo(POOL / ScriptedReader.CHUNK_BYTES);
    unread.releaseAll();
  }

  @Test
  void shouldCopyNothingWhileHalfOfThePoolIsFree() throws VerbsException {
    reader = new ScriptedReader(POOL, COPIES, blocks(4, 100 * KIB));
    Task task = reader.task(1).fetch(maps(0, 4));
    reader.run(10);
    assertThat(task.blocksHeld()).isEqualTo(4);
    assertThat(reader.counters().value(Counter.BLOCKS_COPIED)).isZero();
    task.releaseAll();
  }

  @Test
  void shouldCopyNoMoreThanItsPartOfTheHeap() throws VerbsException {
    reader = new ScriptedReader(POOL, 250 * KIB, blocks(40, 100 * KIB));
    Task task = reader.task(1).fetch(maps(0, 40));
    reader.run(LONGEST_WAIT_MS);
    assertThat(reader.counters().value(Counter.BLOCKS_COPIED)).isEqualTo(2);
    task.releaseAll();
    task.fetch(maps(0, 40));
    reader.run(LONGEST_WAIT_MS);
    assertThat(reader.counters().value(Counter.BLOCKS_COPIED)).isEqualTo(4);
    task.releaseAll();
  }

  @Test
  void shouldUseTcpAfterTensOfMillisecondsWhenNoMemoryIsFreed() throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(40, 100 * KIB));
    Task task = reader.task(1).fetch(maps(0, 40));
    reader.run(LONGEST_WAIT_MS);
    assertThat(task.blocksHeld() + task.failures().size()).isEqualTo(40);
    // One reader gets half of the pool for what it does not release.
    assertThat(task.blocksHeld()).isEqualTo(5);
    assertThat(task.failures()).containsOnly(FallbackReason.POOL_EMPTY);
    assertThat(reader.counters().value(Counter.MEMORY_WAITS_50_MS))
        .isEqualTo(task.failures().size());
    assertThat(reader.counters().value(Counter.MEMORY_WAITS_100_MS)).isZero();
    assertThat(reader.counters().value(Counter.MEMORY_WAITS_LATE)).isZero();
    task.releaseAll();
  }

  /** The unread side of a join, when the heap has no room for copies. */
  @Test
  void shouldReadABlockOfAnotherReaderWhileOneReleasesNothingAndTheHeapIsFull()
      throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(41, 100 * KIB));
    Task unread = reader.task(1).fetch(maps(0, 40));
    reader.run(LONGEST_WAIT_MS);
    Task other = reader.task(2).fetch(40);
    reader.run(2);
    assertThat(other.failures()).isEmpty();
    assertThat(other.blocksHeld()).isEqualTo(1);
    assertThat(unread.failures()).isNotEmpty();
    unread.releaseAll();
    other.releaseAll();
  }

  /** Spark reads some of the copies, so that the heap has room for a few more, again and again. */
  @Test
  void shouldLeaveMemoryForAnotherReaderAlsoWhileTheHeapIsNearlyFull() throws VerbsException {
    reader = new ScriptedReader(POOL, 250 * KIB, blocks(401, 50 * KIB));
    Task unread = reader.task(1);
    for (int round = 0; round < 10; round++) {
      unread.fetch(maps(40 * round, 40 * round + 40));
      reader.run(LONGEST_WAIT_MS);
      unread.releaseCopies();
    }
    assertThat(reader.counters().value(Counter.BLOCKS_COPIED)).isGreaterThan(20);
    assertThat(reader.sinks().availableBytes()).isGreaterThanOrEqualTo(POOL / 4);
    Task other = reader.task(2).fetch(400);
    reader.run(2);
    assertThat(other.blocksHeld()).isEqualTo(1);
    unread.releaseAll();
    other.releaseAll();
  }

  @Test
  void shouldUseTcpAfterTensOfMillisecondsWhenTheDeviceRefusesMemory() throws VerbsException {
    reader = new ScriptedReader(POOL, COPIES, blocks(10, 100 * KIB));
    reader.refuseMemory();
    Task task = reader.task(1).fetch(maps(0, 10));
    reader.run(LONGEST_WAIT_MS);
    assertThat(task.failures()).hasSize(10).containsOnly(FallbackReason.POOL_EMPTY);
    assertThat(reader.locates()).isLessThanOrEqualTo(LONGEST_WAIT_MS);
    assertThat(reader.refusals()).as("at once, then after 10 and 20 ms").isBetween(1, 3);
  }

  @Test
  void shouldReadAWaitingBlockWhenARegionIsClosedAfterTheDeviceHasRefusedMemory()
      throws VerbsException {
    reader = new ScriptedReader(POOL, COPIES, blocks(2, 100 * KIB));
    reader.refuseMemory();
    Task task = reader.task(1).fetch(0, 1);
    reader.run(5);
    reader.allowMemory();
    reader.run(2);
    assertThat(task.blocksHeld()).as("no region is closed yet").isZero();
    reader.closeOtherRegion();
    reader.run(2);
    assertThat(task.blocksHeld()).isEqualTo(2);
    assertThat(task.failures()).isEmpty();
    assertThat(reader.refusals()).isEqualTo(1);
    task.releaseAll();
  }

  @Test
  void shouldReadBlocksSomeTimeAfterTheDeviceHasRefusedMemory() throws VerbsException {
    reader = new ScriptedReader(POOL, COPIES, blocks(1, 100 * KIB));
    reader.refuseMemory();
    Task task = reader.task(1).fetch(0);
    reader.run(LONGEST_WAIT_MS);
    assertThat(task.failures()).containsExactly(FallbackReason.POOL_EMPTY);
    reader.allowMemory();
    reader.run(100 - LONGEST_WAIT_MS);
    task.fetch(0);
    reader.run(5);
    assertThat(task.blocksHeld()).isEqualTo(1);
    task.releaseAll();
  }

  @Test
  void shouldContinueAWaitingBlockWhenMemoryIsFreed() throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(15, 100 * KIB));
    List<Task> unread = readOneByOne(10);
    Task waiting = reader.task(1).fetch(maps(10, 15));
    reader.run(5);
    assertThat(waiting.blocksHeld()).isZero();
    unread.forEach(Task::releaseAll);
    reader.run(5);
    assertThat(waiting.blocksHeld()).isEqualTo(5);
    assertThat(waiting.failures()).isEmpty();
    waiting.releaseAll();
  }

  @Test
  void shouldLeaveMemoryForAnotherReaderWhileReadsAreUnderWay() throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(60, 50 * KIB));
    Task greedy = reader.task(1).fetch(maps(0, 59));
    reader.stepWithoutReads();
    reader.stepWithoutReads();
    int before = reader.readsUnderWay();
    assertThat(reader.sinks().availableBytes()).isGreaterThanOrEqualTo(POOL / 2);
    Task modest = reader.task(2).fetch(59);
    reader.stepWithoutReads();
    reader.stepWithoutReads();
    assertThat(reader.readsUnderWay()).isGreaterThan(before);
    reader.run(LONGEST_WAIT_MS);
    assertThat(modest.blocksHeld()).isEqualTo(1);
    greedy.releaseAll();
    modest.releaseAll();
  }

  @Test
  void shouldUseTcpAfterTensOfMillisecondsAlsoWhileReadsComplete() throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(20, 100 * KIB));
    List<Task> tasks = fetchInGroups(2, 8, 10);
    passWithoutReads(18);
    reader.completeOneRead();
    tasks.forEach(Task::releaseAll);
    passWithoutReads(LONGEST_WAIT_MS - 20);
    assertThat(tasks.stream().filter(task -> !task.failures().isEmpty())).hasSize(8);
    reader.run(2);
    tasks.forEach(Task::releaseAll);
    assertThat(tasks).allMatch(task -> task.lastAnswerMs() > 0);
    assertThat(reader.counters().value(Counter.MEMORY_WAITS_100_MS)).isZero();
  }

  /** READs of a slow peer hold more than half of the pool, and some of them complete. */
  @Test
  void shouldReadSmallBlocksWhileALargeOneOfAnotherReaderWaits() throws VerbsException {
    int[] lengths = blocks(33, 50 * KIB);
    lengths[12] = POOL / 2;
    Arrays.fill(lengths, 13, 33, KIB);
    reader = new ScriptedReader(POOL, NO_COPIES, lengths);
    List<Task> tasks = fetchTogether(0, 1);
    tasks.addAll(fetchTogether(1, 12));
    tasks.addAll(fetchTogether(12, 13));
    Task large = tasks.get(12);
    int before = reader.readsUnderWay();
    tasks.addAll(fetchTogether(13, 33));
    assertThat(reader.readsUnderWay()).isEqualTo(before + 20);

    reader.completeOneRead();
    tasks.forEach(Task::releaseAll);
    passWithoutReads(LONGEST_WAIT_MS);
    assertThat(large.failures()).containsExactly(FallbackReason.POOL_EMPTY);
    reader.run(1);
    tasks.forEach(Task::releaseAll);
    assertThat(tasks.stream().filter(task -> !task.failures().isEmpty())).containsExactly(large);
    assertThat(reader.counters().value(Counter.MEMORY_WAITS_100_MS)).isZero();
  }

  @Test
  void shouldPassOverALargeBlockByNoMoreBytesThanItNeeds() throws VerbsException {
    int[] lengths = blocks(25, 50 * KIB);
    lengths[12] = POOL / 2;
    reader = new ScriptedReader(POOL, NO_COPIES, lengths);
    List<Task> tasks = fetchTogether(0, 6);
    tasks.addAll(fetchTogether(6, 12));
    tasks.addAll(fetchTogether(12, 13));
    tasks.addAll(fetchTogether(13, 21));
    // All of the first answer, of which a completion reports 256 KiB.
    reader.completeOneRead();
    reader.completeOneRead();
    tasks.forEach(Task::releaseAll);
    // Memory is free for all four, but only two may still pass.
    tasks.addAll(fetchTogether(21, 25));
    while (waits() == 0) {
      reader.completeOneRead();
      tasks.forEach(Task::releaseAll);
      reader.stepWithoutReads();
    }
    // The large one has waited longest, and is the first that gets memory.
    assertThat(reader.counters().value(Counter.MEMORY_WAITS_20_MS)).isEqualTo(1);
    for (int i = 0; i < 2; i++) {
      reader.run(4);
      tasks.forEach(Task::releaseAll);
    }
    long passed = 12 - (waits() - 1);
    assertThat(passed).isEqualTo(POOL / 2 / (50 * KIB));
    assertThat(tasks).allMatch(task -> task.failures().isEmpty() && task.lastAnswerMs() > 0);
  }

  /** Number of blocks that have got memory after a wait. */
  private long waits() {
    return reader.counters().value(Counter.MEMORY_WAITS_5_MS)
        + reader.counters().value(Counter.MEMORY_WAITS_20_MS);
  }

  @Test
  void shouldReadBlocksBehindALargeOneOfTheirReaderThatUsesTcp() throws VerbsException {
    int[] lengths = blocks(16, 50 * KIB);
    lengths[12] = POOL / 2;
    reader = new ScriptedReader(POOL, NO_COPIES, lengths);
    List<Task> tasks = fetchTogether(0, 12);
    Task waiting = reader.task(12).fetch(12);
    passWithoutReads(2);
    waiting.fetch(13, 14, 15);
    passWithoutReads(2);
    // A pause of the agent, after which all waits are over.
    reader.turn(LONGEST_WAIT_MS * 1_000_000L);
    assertThat(waiting.failures()).hasSize(1);
    reader.run(5);
    assertThat(waiting.blocksHeld()).isEqualTo(3);
    tasks.forEach(Task::releaseAll);
    waiting.releaseAll();
  }

  /** One block for each of many tasks, all in one answer. */
  private List<Task> fetchTogether(int from, int to) {
    List<Task> tasks = new ArrayList<>();
    for (int map = from; map < to; map++) {
      tasks.add(reader.task(map).fetch(map));
    }
    passWithoutReads(2);
    return tasks;
  }

  @Test
  void shouldUseTcpAfterTensOfMillisecondsWhenNoReadCompletes() throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(20, 100 * KIB));
    List<Task> tasks = fetchInGroups(5, 5, 10);
    passWithoutReads(LONGEST_WAIT_MS);
    assertThat(tasks.stream().filter(task -> !task.failures().isEmpty())).hasSize(10);
    reader.run(1);
    tasks.forEach(Task::releaseAll);
  }

  /** The wait of a block begins with the answer, and not when its other blocks are read. */
  @Test
  void shouldUseTcpAfterTensOfMillisecondsWhileReadsOfTheSameAnswerDoNotComplete()
      throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(40, 100 * KIB));
    Task task = reader.task(1).fetch(maps(0, 40));
    passWithoutReads(LONGEST_WAIT_MS);
    // One reader gets half of the pool while its READs are under way.
    assertThat(task.failures()).hasSize(35).containsOnly(FallbackReason.POOL_EMPTY);
    reader.run(2);
    assertThat(task.blocksHeld()).isEqualTo(5);
    task.releaseAll();
  }

  /** After a garbage collection the agent notices both at once. */
  @Test
  void shouldReadABlockWhoseMemoryBecameFreeDuringAPause() throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(20, 100 * KIB));
    List<Task> unread = readOneByOne(10);
    Task waiting = reader.task(1).fetch(19);
    reader.run(3);
    assertThat(waiting.lastAnswerMs()).isNotPositive();
    unread.forEach(Task::releaseAll);
    reader.turn(LONGEST_WAIT_MS * 1_000_000L);
    assertThat(reader.counters().value(Counter.MEMORY_WAITS_LATE)).isEqualTo(1);
    reader.run(2);
    assertThat(waiting.failures()).isEmpty();
    assertThat(waiting.blocksHeld()).isEqualTo(1);
    waiting.releaseAll();
  }

  /** Tasks that hold one block each and do not release it. */
  private List<Task> readOneByOne(int count) {
    List<Task> unread = new ArrayList<>();
    for (int map = 0; map < count; map++) {
      unread.add(reader.task(100 + map).fetch(map));
      reader.run(2);
      assertThat(unread.get(map).blocksHeld()).isEqualTo(1);
    }
    return unread;
  }

  /** A wait is longer than its limit by the rest of the pause only. */
  @Test
  void shouldEndWaitsInTheFirstTurnAfterAPause() throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(40, 100 * KIB));
    Task task = reader.task(1).fetch(maps(0, 40));
    reader.run(20);
    int waiting = 40 - task.blocksHeld();
    assertThat(waiting).isEqualTo(35);
    assertThat(task.failures()).isEmpty();
    reader.turn(LONGEST_WAIT_MS * 1_000_000L);
    assertThat(task.failures()).hasSize(waiting).containsOnly(FallbackReason.POOL_EMPTY);
    assertThat(reader.counters().value(Counter.MEMORY_WAITS_LATE)).isEqualTo(waiting);
    assertThat(reader.counters().value(Counter.MEMORY_WAITS_100_MS)).as("of 60 ms").isZero();
    task.releaseAll();
  }

  /** The block waits for the rest of the agent's iteration, not since the last one. */
  @Test
  void shouldNotCountTheWaitOfABlockThatIsAddedAfterAPauseAsLate() throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(20, 100 * KIB));
    List<Task> unread = readOneByOne(10);
    reader.turn(LONGEST_WAIT_MS * 1_000_000L);
    Task waiting = reader.task(1).fetch(19);
    reader.run(3);
    unread.forEach(Task::releaseAll);
    reader.run(3);
    assertThat(waiting.blocksHeld()).isEqualTo(1);
    assertThat(waits()).isEqualTo(1);
    assertThat(reader.counters().value(Counter.MEMORY_WAITS_LATE)).isZero();
    waiting.releaseAll();
  }

  /** The unread side of a join holds memory in this way. Other READs complete meanwhile. */
  @Test
  void shouldUseTcpAfterTensOfMillisecondsWhileUnreadBlocksHoldMostMemory() throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(20, 100 * KIB));
    List<Task> unread = readOneByOne(6);
    List<Task> tasks = fetchInGroups(2, 2, 8);
    for (int completed = 0; completed < 2; completed++) {
      passWithoutReads(12);
      reader.completeOneRead();
      tasks.forEach(Task::releaseAll);
    }
    assertThat(tasks).allMatch(task -> task.failures().isEmpty());
    passWithoutReads(12);
    assertThat(tasks.stream().filter(task -> !task.failures().isEmpty())).hasSize(4);
    reader.run(2);
    tasks.forEach(Task::releaseAll);
    unread.forEach(Task::releaseAll);
  }

  /** One block for each of many tasks; the blocks of a group come in one answer. */
  private List<Task> fetchInGroups(int... groups) {
    List<Task> tasks = new ArrayList<>();
    for (int group : groups) {
      for (int i = 0; i < group; i++) {
        int map = reader.lengths() - IntStream.of(groups).sum() + tasks.size();
        tasks.add(reader.task(tasks.size()).fetch(map));
      }
      passWithoutReads(2);
    }
    return tasks;
  }

  private void passWithoutReads(int milliseconds) {
    for (int i = 0; i < milliseconds; i++) {
      reader.stepWithoutReads();
    }
  }

  @Test
  void shouldPackSmallBlocksOfManyAnswers() throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(100, KIB));
    Task task = reader.task(1);
    for (int map = 0; map < 100; map++) {
      task.fetch(map);
      reader.step();
    }
    reader.step();
    assertThat(task.blocksHeld()).isEqualTo(100);
    int chunks = (100 * KIB + ScriptedReader.CHUNK_BYTES - 1) / ScriptedReader.CHUNK_BYTES;
    assertThat(reader.sinks().chunksOut()).isLessThanOrEqualTo(chunks);
    task.releaseAll();
  }

  /** A LOCATE has room for more blocks than its answer. */
  @Test
  void shouldAskForNoMoreBlocksThanAnAnswerHolds() throws VerbsException {
    int count = 4_000;
    reader = new ScriptedReader(256 * ScriptedReader.CHUNK_BYTES, COPIES, blocks(count, 100));
    Task task = reader.task(1).fetch(maps(0, count));
    reader.run(40);
    assertThat(task.blocksHeld()).isEqualTo(count);
    assertThat(reader.blocksAsked()).isLessThan(count + count / 8);
    // The next LOCATE takes a lease along.
    assertThat(reader.releases()).isLessThan(reader.locates() / 2);
    task.releaseAll();
  }
}
