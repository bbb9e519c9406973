// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.verbs.VerbsException;

/** Sizes, copies and shares of readers, when the receive pool is short. */
class PoolPressureTest extends PoolFixture {
  @Test
  void shouldSendABlockThatNeverFitsByTcpAtOnce() throws VerbsException {
    reader = new ScriptedReader(POOL, COPIES, POOL / 2 + 1, 10 * KIB);
    ScriptedTask task = reader.task(1).fetch(0, 1);
    reader.run(2);
    assertThat(task.failures()).containsExactly(FallbackReason.POOL_EMPTY);
    assertThat(task.lastAnswerMs()).isLessThanOrEqualTo(2);
    assertThat(task.blocksHeld()).isEqualTo(1);
    task.releaseAll();
  }

  @Test
  void shouldReadABlockOfHalfThePool() throws VerbsException {
    reader = new ScriptedReader(POOL, COPIES, POOL / 2);
    ScriptedTask task = reader.task(1).fetch(0);
    reader.run(2);
    assertThat(task.blocksHeld()).isEqualTo(1);
    task.releaseAll();
  }

  /** The unread side of a join keeps what it got while the other side is read. */
  @Test
  void shouldReadEveryBlockWhileAnotherReaderReleasesNothing() throws VerbsException {
    reader = new ScriptedReader(POOL, COPIES, blocks(80, 50 * KIB));
    ScriptedTask unread = reader.task(1).fetch(maps(0, 40));
    for (int map = 0; map < 40; map++) {
      reader.step();
    }
    ScriptedTask read = reader.task(2).fetch(maps(40, 80));
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
    ScriptedTask task = reader.task(1).fetch(maps(0, 4));
    reader.run(10);
    assertThat(task.blocksHeld()).isEqualTo(4);
    assertThat(reader.counters().value(Counter.BLOCKS_COPIED)).isZero();
    task.releaseAll();
  }

  @Test
  void shouldCopyNoMoreThanItsPartOfTheHeap() throws VerbsException {
    reader = new ScriptedReader(POOL, 250 * KIB, blocks(40, 100 * KIB));
    ScriptedTask task = reader.task(1).fetch(maps(0, 40));
    reader.run(LONGEST_WAIT_MS);
    assertThat(reader.counters().value(Counter.BLOCKS_COPIED)).isEqualTo(2);
    task.releaseAll();
    task.fetch(maps(0, 40));
    reader.run(LONGEST_WAIT_MS);
    assertThat(reader.counters().value(Counter.BLOCKS_COPIED)).isEqualTo(4);
    task.releaseAll();
  }

  /** The unread side of a join, when the heap has no room for copies. */
  @Test
  void shouldReadABlockOfAnotherReaderWhileOneReleasesNothingAndTheHeapIsFull()
      throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(41, 100 * KIB));
    ScriptedTask unread = reader.task(1).fetch(maps(0, 40));
    reader.run(LONGEST_WAIT_MS);
    ScriptedTask other = reader.task(2).fetch(40);
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
    ScriptedTask unread = reader.task(1);
    for (int round = 0; round < 10; round++) {
      unread.fetch(maps(40 * round, 40 * round + 40));
      reader.run(LONGEST_WAIT_MS);
      unread.releaseCopies();
    }
    assertThat(reader.counters().value(Counter.BLOCKS_COPIED)).isGreaterThan(20);
    assertThat(reader.sinks().availableBytes()).isGreaterThanOrEqualTo(POOL / 4);
    ScriptedTask other = reader.task(2).fetch(400);
    reader.run(2);
    assertThat(other.blocksHeld()).isEqualTo(1);
    unread.releaseAll();
    other.releaseAll();
  }

  @Test
  void shouldUseTcpAfterTensOfMillisecondsWhenTheDeviceRefusesMemory() throws VerbsException {
    reader = new ScriptedReader(POOL, COPIES, blocks(10, 100 * KIB));
    reader.memory().refuseMemory();
    ScriptedTask task = reader.task(1).fetch(maps(0, 10));
    reader.run(LONGEST_WAIT_MS);
    assertThat(task.failures()).hasSize(10).containsOnly(FallbackReason.POOL_EMPTY);
    assertThat(reader.peer().locates()).isLessThanOrEqualTo(LONGEST_WAIT_MS);
    assertThat(reader.memory().refusals()).as("at once, then after 10 and 20 ms").isBetween(1, 3);
  }

  @Test
  void shouldReadAWaitingBlockWhenARegionIsClosedAfterTheDeviceHasRefusedMemory()
      throws VerbsException {
    reader = new ScriptedReader(POOL, COPIES, blocks(2, 100 * KIB));
    reader.memory().refuseMemory();
    ScriptedTask task = reader.task(1).fetch(0, 1);
    reader.run(5);
    reader.memory().allowMemory();
    reader.run(2);
    assertThat(task.blocksHeld()).as("no region is closed yet").isZero();
    reader.memory().closeOtherRegion();
    reader.run(2);
    assertThat(task.blocksHeld()).isEqualTo(2);
    assertThat(task.failures()).isEmpty();
    assertThat(reader.memory().refusals()).isEqualTo(1);
    task.releaseAll();
  }

  @Test
  void shouldReadBlocksSomeTimeAfterTheDeviceHasRefusedMemory() throws VerbsException {
    reader = new ScriptedReader(POOL, COPIES, blocks(1, 100 * KIB));
    reader.memory().refuseMemory();
    ScriptedTask task = reader.task(1).fetch(0);
    reader.run(LONGEST_WAIT_MS);
    assertThat(task.failures()).containsExactly(FallbackReason.POOL_EMPTY);
    reader.memory().allowMemory();
    reader.run(100 - LONGEST_WAIT_MS);
    task.fetch(0);
    reader.run(5);
    assertThat(task.blocksHeld()).isEqualTo(1);
    task.releaseAll();
  }

  @Test
  void shouldLeaveMemoryForAnotherReaderWhileReadsAreUnderWay() throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(60, 50 * KIB));
    ScriptedTask greedy = reader.task(1).fetch(maps(0, 59));
    reader.stepWithoutReads();
    reader.stepWithoutReads();
    int before = reader.peer().readsUnderWay();
    assertThat(reader.sinks().availableBytes()).isGreaterThanOrEqualTo(POOL / 2);
    ScriptedTask modest = reader.task(2).fetch(59);
    reader.stepWithoutReads();
    reader.stepWithoutReads();
    assertThat(reader.peer().readsUnderWay()).isGreaterThan(before);
    reader.run(LONGEST_WAIT_MS);
    assertThat(modest.blocksHeld()).isEqualTo(1);
    greedy.releaseAll();
    modest.releaseAll();
  }

  @Test
  void shouldPackSmallBlocksOfManyAnswers() throws VerbsException {
    reader = new ScriptedReader(POOL, NO_COPIES, blocks(100, KIB));
    ScriptedTask task = reader.task(1);
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
    ScriptedTask task = reader.task(1).fetch(maps(0, count));
    reader.run(40);
    assertThat(task.blocksHeld()).isEqualTo(count);
    assertThat(reader.peer().blocksAsked()).isLessThan(count + count / 8);
    // The next LOCATE takes a lease along.
    assertThat(reader.peer().releases()).isLessThan(reader.peer().locates() / 2);
    task.releaseAll();
  }
}
