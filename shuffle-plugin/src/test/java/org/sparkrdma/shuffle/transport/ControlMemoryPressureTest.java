// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.transport.ScriptedReader.Task;
import org.sparkrdma.verbs.VerbsException;

/** No memory is left for the messages of a connection, in virtual time. */
@Timeout(60)
class ControlMemoryPressureTest {
  private static final int POOL = 64 * ScriptedReader.CHUNK_BYTES;
  private static final int LONGEST_WAIT_MS = 40;

  private ScriptedReader reader;

  @AfterEach
  void close() {
    reader.close();
    assertThat(reader.sinks().chunksOut()).as("chunks still held").isZero();
  }

  @Test
  void shouldUseTcpAfterTensOfMillisecondsWithoutABufferForARequest() throws VerbsException {
    reader = new ScriptedReader(POOL, 0, 1_000, 1_000);
    Runnable giveBack = reader.exhaustControlBuffers();
    Task task = reader.task(1).fetch(0, 1);
    reader.run(20);
    assertThat(task.failures()).isEmpty();
    reader.run(LONGEST_WAIT_MS - 20);
    assertThat(task.failures())
        .containsExactly(FallbackReason.POOL_EMPTY, FallbackReason.POOL_EMPTY);
    assertThat(task.lastAnswerMs()).isLessThanOrEqualTo(LONGEST_WAIT_MS);
    giveBack.run();
    task.fetch(0);
    reader.run(10);
    assertThat(task.blocksHeld()).as("by READ again").isEqualTo(1);
    task.releaseAll();
  }

  @Test
  void shouldRequestBlocksThatWaitedForABuffer() throws VerbsException {
    reader = new ScriptedReader(POOL, 0, 1_000, 1_000);
    Runnable giveBack = reader.exhaustControlBuffers();
    Task task = reader.task(1).fetch(0, 1);
    reader.run(20);
    assertThat(reader.locates()).isZero();
    giveBack.run();
    reader.run(10);
    assertThat(task.blocksHeld()).isEqualTo(2);
    assertThat(task.failures()).isEmpty();
    task.releaseAll();
  }

  @Test
  void shouldReleaseALeaseAsSoonAsThereIsABuffer() throws VerbsException {
    reader = new ScriptedReader(POOL, 0, 1_000);
    Task task = reader.task(1).fetch(0);
    reader.stepWithoutReads();
    Runnable giveBack = reader.exhaustControlBuffers();
    reader.run(LONGEST_WAIT_MS);
    assertThat(task.blocksHeld()).isEqualTo(1);
    assertThat(reader.releases()).isZero();
    giveBack.run();
    reader.run(10);
    assertThat(reader.releases()).isEqualTo(1);
    task.releaseAll();
  }
}
