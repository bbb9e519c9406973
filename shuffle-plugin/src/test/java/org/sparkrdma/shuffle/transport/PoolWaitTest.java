// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.verbs.VerbsException;

/** Waits of blocks for receive memory, first come, first served, and how they end. */
class PoolWaitTest extends PoolFixture {
  private static final int WAIT_MS = 1_000;

  @Test
  void shouldUseTcpAfterASecondWhenNoMemoryIsFreed() throws VerbsException {
    reader = new ScriptedReader(POOL, blocks(40, 100 * KIB));
    ScriptedTask task = reader.task().fetch(maps(0, 40));
    reader.run(WAIT_MS - 10);
    assertThat(task.blocksHeld()).as("all of the pool").isEqualTo(10);
    assertThat(task.failures()).isEmpty();
    reader.run(20);
    assertThat(task.failures()).hasSize(30).containsOnly(FallbackReason.POOL_EMPTY);
    assertThat(reader.counters().value(Counter.MEMORY_WAITS_LONGER)).isEqualTo(30);
    task.releaseAll();
  }

  @Test
  void shouldContinueAWaitingBlockWhenMemoryIsFreed() throws VerbsException {
    reader = new ScriptedReader(POOL, blocks(15, 100 * KIB));
    List<ScriptedTask> unread = readOneByOne(10);
    ScriptedTask waiting = reader.task().fetch(maps(10, 15));
    reader.run(WAIT_MS - 10);
    assertThat(waiting.blocksHeld()).isZero();
    unread.forEach(ScriptedTask::releaseAll);
    reader.run(5);
    assertThat(waiting.blocksHeld()).isEqualTo(5);
    assertThat(waiting.failures()).isEmpty();
    waiting.releaseAll();
  }

  @Test
  void shouldGiveMemoryInTheOrderOfTheWaits() throws VerbsException {
    int[] lengths = blocks(13, 100 * KIB);
    lengths[10] = POOL / 2;
    lengths[11] = KIB;
    reader = new ScriptedReader(POOL, lengths);
    List<ScriptedTask> unread = readOneByOne(10);
    ScriptedTask large = reader.task().fetch(10);
    reader.run(2);
    ScriptedTask small = reader.task().fetch(11);
    reader.run(2);
    unread.subList(0, 2).forEach(ScriptedTask::releaseAll);
    reader.run(5);
    assertThat(small.blocksHeld()).as("a small block behind a large one").isZero();
    unread.subList(2, 6).forEach(ScriptedTask::releaseAll);
    reader.run(5);
    assertThat(large.blocksHeld()).isEqualTo(1);
    assertThat(small.blocksHeld()).isEqualTo(1);
    unread.forEach(ScriptedTask::releaseAll);
    large.releaseAll();
    small.releaseAll();
  }

  /** After a garbage collection the agent notices both at once. */
  @Test
  void shouldReadABlockWhoseMemoryBecameFreeDuringAPause() throws VerbsException {
    reader = new ScriptedReader(POOL, blocks(20, 100 * KIB));
    List<ScriptedTask> unread = readOneByOne(10);
    ScriptedTask waiting = reader.task().fetch(19);
    reader.run(3);
    unread.forEach(ScriptedTask::releaseAll);
    reader.turn(2L * WAIT_MS * 1_000_000);
    reader.run(2);
    assertThat(waiting.failures()).isEmpty();
    assertThat(waiting.blocksHeld()).isEqualTo(1);
    waiting.releaseAll();
  }

  @Test
  void shouldEndAllWaitsInTheFirstTurnAfterAPause() throws VerbsException {
    reader = new ScriptedReader(POOL, blocks(40, 100 * KIB));
    ScriptedTask task = reader.task().fetch(maps(0, 40));
    reader.run(20);
    assertThat(task.failures()).isEmpty();
    reader.turn(2L * WAIT_MS * 1_000_000);
    assertThat(task.failures()).hasSize(30).containsOnly(FallbackReason.POOL_EMPTY);
    task.releaseAll();
  }

  @Test
  void shouldReleaseTheMemoryOfWaitingBlocksWhenTheConnectionEnds() throws VerbsException {
    reader = new ScriptedReader(POOL, blocks(20, 100 * KIB));
    List<ScriptedTask> tasks = new ArrayList<>(readOneByOne(10));
    ScriptedTask waiting = reader.task().fetch(maps(10, 20));
    reader.run(5);
    tasks.forEach(ScriptedTask::releaseAll);
    // The fixture closes the reader and finds what is still held.
    assertThat(waiting.blocksHeld()).isZero();
  }
}
