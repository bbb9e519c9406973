// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.verbs.VerbsException;

/** Waits of blocks for receive memory, and how they end. */
class PoolWaitTest extends PoolFixture {
  @Test
  void shouldUseTcpAfterTensOfMillisecondsWhenNoMemoryIsFreed() throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(40, 100 * KIB));
    ScriptedTask task = reader.task(1).fetch(maps(0, 40));
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

  @Test
  void shouldContinueAWaitingBlockWhenMemoryIsFreed() throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(15, 100 * KIB));
    List<ScriptedTask> unread = readOneByOne(10);
    ScriptedTask waiting = reader.task(1).fetch(maps(10, 15));
    reader.run(5);
    assertThat(waiting.blocksHeld()).isZero();
    unread.forEach(ScriptedTask::releaseAll);
    reader.run(5);
    assertThat(waiting.blocksHeld()).isEqualTo(5);
    assertThat(waiting.failures()).isEmpty();
    waiting.releaseAll();
  }

  @Test
  void shouldUseTcpAfterTensOfMillisecondsAlsoWhileReadsComplete() throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(20, 100 * KIB));
    List<ScriptedTask> tasks = fetchInGroups(2, 8, 10);
    passWithoutReads(18);
    reader.peer().completeOneRead();
    tasks.forEach(ScriptedTask::releaseAll);
    passWithoutReads(LONGEST_WAIT_MS - 20);
    assertThat(tasks.stream().filter(task -> !task.failures().isEmpty())).hasSize(8);
    reader.run(2);
    tasks.forEach(ScriptedTask::releaseAll);
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
    List<ScriptedTask> tasks = fetchTogether(0, 1);
    tasks.addAll(fetchTogether(1, 12));
    tasks.addAll(fetchTogether(12, 13));
    ScriptedTask large = tasks.get(12);
    int before = reader.peer().readsUnderWay();
    tasks.addAll(fetchTogether(13, 33));
    assertThat(reader.peer().readsUnderWay()).isEqualTo(before + 20);

    reader.peer().completeOneRead();
    tasks.forEach(ScriptedTask::releaseAll);
    passWithoutReads(LONGEST_WAIT_MS);
    assertThat(large.failures()).containsExactly(FallbackReason.POOL_EMPTY);
    reader.run(1);
    tasks.forEach(ScriptedTask::releaseAll);
    assertThat(tasks.stream().filter(task -> !task.failures().isEmpty())).containsExactly(large);
    assertThat(reader.counters().value(Counter.MEMORY_WAITS_100_MS)).isZero();
  }

  @Test
  void shouldPassOverALargeBlockByNoMoreBytesThanItNeeds() throws VerbsException {
    int[] lengths = blocks(25, 50 * KIB);
    lengths[12] = POOL / 2;
    reader = new ScriptedReader(POOL, NO_COPIES, lengths);
    List<ScriptedTask> tasks = fetchTogether(0, 6);
    tasks.addAll(fetchTogether(6, 12));
    tasks.addAll(fetchTogether(12, 13));
    tasks.addAll(fetchTogether(13, 21));
    // All of the first answer, of which a completion reports 256 KiB.
    reader.peer().completeOneRead();
    reader.peer().completeOneRead();
    tasks.forEach(ScriptedTask::releaseAll);
    // Memory is free for all four, but only two may still pass.
    tasks.addAll(fetchTogether(21, 25));
    while (waits() == 0) {
      reader.peer().completeOneRead();
      tasks.forEach(ScriptedTask::releaseAll);
      reader.stepWithoutReads();
    }
    // The large one has waited longest, and is the first that gets memory.
    assertThat(reader.counters().value(Counter.MEMORY_WAITS_20_MS)).isEqualTo(1);
    for (int i = 0; i < 2; i++) {
      reader.run(4);
      tasks.forEach(ScriptedTask::releaseAll);
    }
    long passed = 12 - (waits() - 1);
    assertThat(passed).isEqualTo(POOL / 2 / (50 * KIB));
    assertThat(tasks).allMatch(task -> task.failures().isEmpty() && task.lastAnswerMs() > 0);
  }

  @Test
  void shouldReadBlocksBehindALargeOneOfTheirReaderThatUsesTcp() throws VerbsException {
    int[] lengths = blocks(16, 50 * KIB);
    lengths[12] = POOL / 2;
    reader = new ScriptedReader(POOL, NO_COPIES, lengths);
    List<ScriptedTask> tasks = fetchTogether(0, 12);
    ScriptedTask waiting = reader.task(12).fetch(12);
    passWithoutReads(2);
    waiting.fetch(13, 14, 15);
    passWithoutReads(2);
    // A pause of the agent, after which all waits are over.
    reader.turn(LONGEST_WAIT_MS * 1_000_000L);
    assertThat(waiting.failures()).hasSize(1);
    reader.run(5);
    assertThat(waiting.blocksHeld()).isEqualTo(3);
    tasks.forEach(ScriptedTask::releaseAll);
    waiting.releaseAll();
  }

  @Test
  void shouldUseTcpAfterTensOfMillisecondsWhenNoReadCompletes() throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(20, 100 * KIB));
    List<ScriptedTask> tasks = fetchInGroups(5, 5, 10);
    passWithoutReads(LONGEST_WAIT_MS);
    assertThat(tasks.stream().filter(task -> !task.failures().isEmpty())).hasSize(10);
    reader.run(1);
    tasks.forEach(ScriptedTask::releaseAll);
  }

  /** The wait of a block begins with the answer, and not when its other blocks are read. */
  @Test
  void shouldUseTcpAfterTensOfMillisecondsWhileReadsOfTheSameAnswerDoNotComplete()
      throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(40, 100 * KIB));
    ScriptedTask task = reader.task(1).fetch(maps(0, 40));
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
    List<ScriptedTask> unread = readOneByOne(10);
    ScriptedTask waiting = reader.task(1).fetch(19);
    reader.run(3);
    assertThat(waiting.lastAnswerMs()).isNotPositive();
    unread.forEach(ScriptedTask::releaseAll);
    reader.turn(LONGEST_WAIT_MS * 1_000_000L);
    assertThat(reader.counters().value(Counter.MEMORY_WAITS_LATE)).isEqualTo(1);
    reader.run(2);
    assertThat(waiting.failures()).isEmpty();
    assertThat(waiting.blocksHeld()).isEqualTo(1);
    waiting.releaseAll();
  }

  /** A wait is longer than its limit by the rest of the pause only. */
  @Test
  void shouldEndWaitsInTheFirstTurnAfterAPause() throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(40, 100 * KIB));
    ScriptedTask task = reader.task(1).fetch(maps(0, 40));
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
    List<ScriptedTask> unread = readOneByOne(10);
    reader.turn(LONGEST_WAIT_MS * 1_000_000L);
    ScriptedTask waiting = reader.task(1).fetch(19);
    reader.run(3);
    unread.forEach(ScriptedTask::releaseAll);
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
    List<ScriptedTask> unread = readOneByOne(6);
    List<ScriptedTask> tasks = fetchInGroups(2, 2, 8);
    for (int completed = 0; completed < 2; completed++) {
      passWithoutReads(12);
      reader.peer().completeOneRead();
      tasks.forEach(ScriptedTask::releaseAll);
    }
    assertThat(tasks).allMatch(task -> task.failures().isEmpty());
    passWithoutReads(12);
    assertThat(tasks.stream().filter(task -> !task.failures().isEmpty())).hasSize(4);
    reader.run(2);
    tasks.forEach(ScriptedTask::releaseAll);
    unread.forEach(ScriptedTask::releaseAll);
  }
}
