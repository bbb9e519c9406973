// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.verbs.VerbsException;

/** Sizes of blocks, when the receive pool is short. */
class PoolPressureTest extends PoolFixture {
  @Test
  void shouldSendABlockThatNeverFitsByTcpAtOnce() throws VerbsException {
    reader = new ScriptedReader(POOL, POOL + 1, 10 * KIB);
    ScriptedTask task = reader.task().fetch(0, 1);
    reader.run(2);
    assertThat(task.failures()).containsExactly(FallbackReason.POOL_EMPTY);
    assertThat(task.lastAnswerMs()).isLessThanOrEqualTo(2);
    assertThat(task.blocksHeld()).isEqualTo(1);
    task.releaseAll();
  }

  @Test
  void shouldReadABlockOfTheWholePool() throws VerbsException {
    reader = new ScriptedReader(POOL, POOL);
    ScriptedTask task = reader.task().fetch(0);
    reader.run(2);
    assertThat(task.blocksHeld()).isEqualTo(1);
    task.releaseAll();
  }

  @Test
  void shouldUseTcpAfterASecondWhenTheDeviceRefusesMemory() throws VerbsException {
    reader = new ScriptedReader(POOL, blocks(10, 100 * KIB));
    reader.memory().refuseMemory();
    ScriptedTask task = reader.task().fetch(maps(0, 10));
    reader.run(LONGEST_WAIT_MS);
    assertThat(task.failures()).hasSize(10).containsOnly(FallbackReason.POOL_EMPTY);
    assertThat(reader.peer().locates()).isLessThanOrEqualTo(LONGEST_WAIT_MS);
    assertThat(reader.memory().refusals()).as("after pauses of 10 to 100 ms").isBetween(1, 20);
  }

  @Test
  void shouldReadAWaitingBlockWhenARegionIsClosedAfterTheDeviceHasRefusedMemory()
      throws VerbsException {
    reader = new ScriptedReader(POOL, blocks(2, 100 * KIB));
    reader.memory().refuseMemory();
    ScriptedTask task = reader.task().fetch(0, 1);
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
    reader = new ScriptedReader(POOL, blocks(1, 100 * KIB));
    reader.memory().refuseMemory();
    ScriptedTask task = reader.task().fetch(0);
    reader.run(LONGEST_WAIT_MS);
    assertThat(task.failures()).containsExactly(FallbackReason.POOL_EMPTY);
    reader.memory().allowMemory();
    reader.run(100);
    task.fetch(0);
    reader.run(5);
    assertThat(task.blocksHeld()).isEqualTo(1);
    task.releaseAll();
  }

  @Test
  void shouldPackSmallBlocksOfManyAnswers() throws VerbsException {
    reader = new ScriptedReader(POOL, blocks(100, KIB));
    ScriptedTask task = reader.task();
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
    reader = new ScriptedReader(256 * ScriptedReader.CHUNK_BYTES, blocks(count, 100));
    ScriptedTask task = reader.task().fetch(maps(0, count));
    reader.run(40);
    assertThat(task.blocksHeld()).isEqualTo(count);
    assertThat(reader.peer().blocksAsked()).isLessThan(count + count / 8);
    // The next LOCATE takes a lease along.
    assertThat(reader.peer().releases()).isLessThan(reader.peer().locates() / 2);
    task.releaseAll();
  }
}
