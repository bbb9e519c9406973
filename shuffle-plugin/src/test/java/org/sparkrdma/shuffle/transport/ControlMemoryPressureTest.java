// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.metrics.FallbackReason;
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
    reader = new ScriptedReader(POOL, 1_000, 1_000);
    Runnable release = reader.memory().exhaustControlBuffers();
    ScriptedTask task = reader.task().fetch(0, 1);
    reader.run(20);
    assertThat(task.failures()).isEmpty();
    reader.run(LONGEST_WAIT_MS - 20);
    assertThat(task.failures())
        .containsExactly(FallbackReason.POOL_EMPTY, FallbackReason.POOL_EMPTY);
    assertThat(task.lastAnswerMs()).isLessThanOrEqualTo(LONGEST_WAIT_MS);
    release.run();
    task.fetch(0);
    reader.run(10);
    assertThat(task.blocksHeld()).as("by READ again").isEqualTo(1);
    task.releaseAll();
  }

  @Test
  void shouldRequestBlocksThatWaitedForABuffer() throws VerbsException {
    reader = new ScriptedReader(POOL, 1_000, 1_000);
    Runnable release = reader.memory().exhaustControlBuffers();
    ScriptedTask task = reader.task().fetch(0, 1);
    reader.run(20);
    assertThat(reader.peer().locates()).isZero();
    release.run();
    reader.run(10);
    assertThat(task.blocksHeld()).isEqualTo(2);
    assertThat(task.failures()).isEmpty();
    task.releaseAll();
  }

  @Test
  void shouldReleaseALeaseWithBuffersOfTheReserveWhenNoOthersAreFree() throws VerbsException {
    reader = new ScriptedReader(POOL, 1_000, 1_000);
    ScriptedTask task = reader.task().fetch(0);
    reader.stepWithoutReads();
    Runnable release = reader.memory().exhaustControlBuffers();
    reader.run(10);
    assertThat(reader.peer().releases()).isEqualTo(1);
    List<ControlBuffer> again = reader.memory().control().tryTakeForRelease(2);
    assertThat(again).as("for the next RELEASE").hasSize(2);
    again.forEach(reader.memory().control()::release);
    reader.memory().control().endRelease();
    release.run();
    task.releaseAll();
  }

  @Test
  void shouldReleaseALeaseAlthoughBlocksWaitForABuffer() throws VerbsException {
    reader = new ScriptedReader(POOL, 1_000, 1_000);
    ScriptedTask task = reader.task().fetch(0);
    reader.stepWithoutReads();
    Runnable release = reader.memory().exhaustControlBuffers();
    task.fetch(1);
    reader.run(10);
    assertThat(reader.peer().releases()).isEqualTo(1);
    assertThat(reader.peer().locates()).isEqualTo(1);
    release.run();
    reader.run(10);
    assertThat(task.blocksHeld()).isEqualTo(2);
    task.releaseAll();
  }

  @Test
  void shouldTryAReleaseWithoutBuffersAtTicks() throws VerbsException {
    reader = new ScriptedReader(POOL, 1_000);
    ScriptedTask task = reader.task().fetch(0);
    reader.stepWithoutReads();
    Runnable release = reader.memory().exhaustControlBuffers();
    List<ControlBuffer> reserved = reader.memory().control().tryTakeForRelease(2);
    reader.run(LONGEST_WAIT_MS);
    assertThat(reader.sleep()).isEqualTo(Duration.ofMillis(5));
    assertThat(task.blocksHeld()).isEqualTo(1);
    assertThat(reader.peer().releases()).isZero();
    release.run();
    reader.run(10);
    assertThat(reader.peer().releases()).isEqualTo(1);
    task.releaseAll();
    reserved.forEach(reader.memory().control()::release);
  }

  @Test
  void shouldEndAConnectionWhosePeerTakesNoMessageForTheRequestTimeout() throws VerbsException {
    reader = new ScriptedReader(POOL, 1_000);
    ScriptedTask task = reader.task().fetch(0);
    reader.run(5);
    assertThat(task.blocksHeld()).isEqualTo(1);
    task.releaseAll();
    reader.sendToSilentPeer();
    int steps = (int) ScriptedReader.REQUEST_TIMEOUT.toMillis() / 100;
    for (int i = 0; i < steps; i++) {
      reader.giveTurns(Duration.ofMillis(100));
    }
    assertThat(reader.isClosed()).as("at the request time-out").isFalse();
    reader.giveTurns(Duration.ofMillis(100));
    reader.giveTurns(Duration.ofMillis(100));
    assertThat(reader.isClosed()).as("after it").isTrue();
    assertThat(reader.memory().control().isShortForAnswers()).isFalse();
  }

  @Test
  void shouldWakeUpAtTicksWhileAnswersWait() throws VerbsException {
    reader = new ScriptedReader(POOL, 1_000);
    reader.run(10);
    Runnable release = reader.memory().exhaustControlBuffers();
    List<ControlBuffer> answers = new ArrayList<>();
    for (int i = 0; i < ControlBuffers.ANSWER_RESERVE; i++) {
      reader.memory().control().takeForAnswer(answers::add, Long.MAX_VALUE);
    }
    assertThat(reader.memory().control().isShortForAnswers()).isTrue();
    assertThat(reader.sleep()).isLessThanOrEqualTo(Duration.ofMillis(5));
    reader.memory().allowControlMemory();
    reader.run(10);
    assertThat(reader.memory().control().isShortForAnswers())
        .as("free memory is not signalled")
        .isFalse();
    release.run();
    answers.forEach(reader.memory().control()::release);
  }
}
