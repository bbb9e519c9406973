// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.verbs.VerbsException;

/** Blocks that are handed over while later ones of the same answer are read, in virtual time. */
@Timeout(60)
class HandOverTest {
  private static final int BLOCKS = 8;

  /** Each is read with one completion. */
  private static final int BLOCK_BYTES = (int) SendQueue.SIGNAL_BYTES;

  private static final int LATER_NS = 1_000;

  private final int[] lengths = new int[BLOCKS];
  private ScriptedReader reader;
  private ScriptedTask task;

  @BeforeEach
  void readBlocks() throws VerbsException {
    Arrays.fill(lengths, BLOCK_BYTES);
    reader = new ScriptedReader(4 * BLOCKS * BLOCK_BYTES, 0, lengths);
    reader.usePolls(() -> {});
    task = reader.task(1).fetch(0, 1, 2, 3, 4, 5, 6, 7);
    reader.stepWithoutReads();
    reader.iterate(LATER_NS);
    reader.stepWithoutReads();
    assertThat(reader.peer().readsUnderWay())
        .isEqualTo(BLOCKS * BLOCK_BYTES / ScriptedReader.CHUNK_BYTES);
  }

  @AfterEach
  void close() {
    task.releaseAll();
    reader.close();
    assertThat(reader.sinks().chunksOut()).as("chunks still held").isZero();
  }

  private void completeReads(int blocks) {
    for (int i = 0; i < blocks; i++) {
      reader.peer().completeOneRead();
    }
  }

  @Test
  void shouldHandOverTheBlocksOfAllCompletionsOfAPollTogether() {
    int before = reader.handOvers();
    completeReads(3);
    reader.iterate(LATER_NS);
    assertThat(task.blocksHeld()).isEqualTo(3);
    assertThat(reader.handOvers() - before).isEqualTo(1);

    completeReads(1);
    reader.iterate(LATER_NS);
    assertThat(task.blocksHeld()).isEqualTo(4);
    assertThat(reader.handOvers() - before).isEqualTo(2);
  }

  @Test
  void shouldHandOverTheBlocksOfAWholeAnswerOnce() {
    int before = reader.handOvers();
    completeReads(BLOCKS);
    reader.iterate(LATER_NS);
    assertThat(task.blocksHeld()).isEqualTo(BLOCKS);
    assertThat(reader.handOvers() - before).isEqualTo(1);
  }
}
