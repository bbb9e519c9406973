// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.transport.ScriptedReader.Task;
import org.sparkrdma.verbs.VerbsException;

/** Leases of small answers, which wait for the next request of a task, in virtual time. */
@Timeout(60)
class HeldLeasesTest {
  private static final int POOL = 256 * ScriptedReader.CHUNK_BYTES;
  private static final int SMALL_BYTES = 1_000;
  private static final int LARGE_BYTES = (int) LeasesToRelease.MAX_BYTES + 1;
  private static final int LARGE = 2;
  private static final Duration MOMENT = Duration.ofNanos(1_000);
  private static final Duration TICK = Duration.ofMillis(5);

  private ScriptedReader reader;
  private Task task;

  @BeforeEach
  void connect() throws VerbsException {
    reader = new ScriptedReader(POOL, 0, SMALL_BYTES, SMALL_BYTES, LARGE_BYTES);
    task = reader.task(1);
    reader.run(2);
    reader.giveTurns(TICK);
  }

  @AfterEach
  void close() {
    task.releaseAll();
    reader.close();
  }

  /** A block is requested, and its READs complete; then the connection has a turn. */
  private void read(int map) {
    task.fetch(map);
    reader.giveTurns(MOMENT);
    reader.answerAll();
    reader.giveTurns(MOMENT);
    reader.answerAll();
    reader.giveTurns(MOMENT);
  }

  @Test
  void shouldTakeALeaseAlongWithTheNextLocate() {
    read(0);
    assertThat(task.blocksHeld()).isEqualTo(1);
    assertThat(reader.messagesPosted()).as("no RELEASE").isZero();
    read(1);
    assertThat(task.blocksHeld()).isEqualTo(2);
    assertThat(reader.releasedByLocates()).containsExactly(1L);
    assertThat(reader.releases()).isZero();
  }

  @Test
  void shouldReleaseALeaseAtATickWhenNoLocateFollows() {
    reader.giveTurns(TICK.dividedBy(2));
    read(0);
    assertThat(reader.sleep()).isEqualTo(TICK);
    reader.giveTurns(TICK.dividedBy(2));
    assertThat(reader.messagesPosted()).as("at a tick after half the time").isZero();
    reader.giveTurns(TICK);
    reader.answerAll();
    assertThat(reader.releases()).isEqualTo(1);
    reader.giveTurns(TICK);
    assertThat(reader.sleep()).isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void shouldReleaseALargeAnswerAtOnce() {
    read(LARGE);
    reader.answerAll();
    assertThat(reader.releases()).isEqualTo(1);
  }

  @Test
  void shouldReleaseACopyAtOnce() {
    reader.serveCopies();
    read(0);
    reader.answerAll();
    assertThat(reader.releases()).isEqualTo(1);
  }

  /** Others may need what this executor holds. */
  @Test
  void shouldReleaseLeasesAtOnceForSomeTimeAfterABusy() {
    reader.answerBusy(1);
    read(0);
    assertThat(task.failures()).hasSize(1);
    read(0);
    reader.answerAll();
    assertThat(reader.releases()).isEqualTo(1);
    reader.giveTurns(Duration.ofNanos(LeasesToRelease.BUSY_NS));
    read(1);
    assertThat(task.blocksHeld()).isEqualTo(2);
    reader.answerAll();
    assertThat(reader.releases()).isEqualTo(1);
  }

  @Test
  void shouldReleaseALeaseAtOnceWhileABlockWaitsForABuffer() {
    task.fetch(0);
    reader.giveTurns(MOMENT);
    reader.answerAll();
    reader.giveTurns(MOMENT);
    Runnable release = reader.exhaustControlBuffers();
    task.fetch(1);
    reader.giveTurns(MOMENT);
    reader.answerAll();
    reader.giveTurns(MOMENT);
    reader.answerAll();
    assertThat(reader.releases()).isEqualTo(1);
    release.run();
  }

  @Test
  void shouldSendNoReleaseWhenTheConnectionEnds() {
    read(0);
    reader.close();
    assertThat(reader.isClosed()).isTrue();
    assertThat(reader.messagesPosted()).isZero();
    task.releaseAll();
  }
}
