// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.verbs.VerbsException;

/** Turns of connections and sleep of the agent, in virtual time. */
@Timeout(60)
class ConnectionTurnsTest {
  private static final int POOL = 64 * ScriptedReader.CHUNK_BYTES;
  private static final Duration MOMENT = Duration.ofNanos(1_000);
  private static final Duration TICK = Duration.ofMillis(5);
  private static final Duration VISIT_ALL = Duration.ofMillis(100);
  private static final Duration IDLE_TIMEOUT = Duration.ofMinutes(1);
  private static final int MANY = 300;

  /** The idle time-out of many connections. */
  private static final Duration IDLE_LIMIT = Duration.ofMillis(60_001);

  /** That of a single connection, where nearly all room is free. */
  private static final Duration LONGEST_IDLE_LIMIT = IDLE_LIMIT.multipliedBy(10);

  /** {@code peer.timeout}. */
  private static final Duration SILENCE = Duration.ofSeconds(20);

  private ScriptedReader reader;

  @BeforeEach
  void connect() throws VerbsException {
    reader = new ScriptedReader(POOL, 1_000, POOL / 2, POOL / 2, POOL / 2);
    reader.run(2);
    reader.giveTurns(TICK);
    assertThat(reader.messagesPosted()).isZero();
  }

  @AfterEach
  void close() {
    reader.close();
  }

  @Test
  void shouldGiveATurnAtOnceToAConnectionWithANewBlock() {
    ScriptedTask task = reader.task().fetch(0);
    reader.giveTurns(MOMENT);
    assertThat(reader.messagesPosted()).isEqualTo(1);
    reader.run(2);
    task.releaseAll();
  }

  @Test
  void shouldVisitIdleConnectionsThatWantNoTurnTenTimesASecondOnly() {
    reader.giveTurns(VISIT_ALL);
    ScriptedTask task = reader.task().addUnnoticed(0);
    reader.giveTurns(MOMENT);
    reader.giveTurns(TICK);
    assertThat(reader.messagesPosted()).isZero();
    reader.giveTurns(VISIT_ALL);
    assertThat(reader.messagesPosted()).isEqualTo(1);
    reader.run(2);
    task.releaseAll();
  }

  @Test
  void shouldVisitABusyConnectionAtEachTick() {
    ScriptedTask task = reader.task().fetch(0);
    reader.giveTurns(MOMENT);
    assertThat(reader.messagesPosted()).isEqualTo(1);
    ScriptedTask other = reader.task().addUnnoticed(1);
    reader.giveTurns(TICK);
    assertThat(reader.messagesPosted()).as("requests a credit").isEqualTo(2);
    reader.run(4);
    task.releaseAll();
    other.releaseAll();
  }

  @Test
  void shouldSleepLongOnlyWithoutOpenRequests() {
    assertThat(reader.sleep()).isEqualTo(Duration.ofSeconds(1));
    ScriptedTask task = reader.task().fetch(0);
    reader.giveTurns(MOMENT);
    assertThat(reader.sleep()).isEqualTo(Duration.ofMillis(20));
    reader.run(10);
    reader.giveTurns(TICK);
    assertThat(reader.sleep()).isEqualTo(Duration.ofSeconds(1));
    task.releaseAll();
  }

  @Test
  void shouldCheckEachMillisecondForReceiveMemory() {
    ScriptedTask holder = reader.task().fetch(1);
    reader.run(2);
    assertThat(holder.blocksHeld()).isEqualTo(1);
    ScriptedTask other = reader.task().fetch(2);
    ScriptedTask waiter = reader.task().fetch(3);
    reader.run(4);
    assertThat(reader.sleep()).isEqualTo(Duration.ofMillis(1));
    reader.giveTurns(TICK);
    holder.releaseAll();
    reader.giveTurns(Duration.ofMillis(1));
    assertThat(reader.messagesPosted()).as("asks again, not at a tick").isPositive();
    reader.run(50);
    other.releaseAll();
    waiter.releaseAll();
  }

  @Test
  void shouldDeregisterAFewSlabsOfIdleReceiveMemoryAtATick() {
    ScriptedTask task = reader.task().fetch(1);
    reader.run(2);
    task.releaseAll();
    reader.giveTurns(IDLE_TIMEOUT);
    reader.giveTurns(TICK);
    int slabs = slabs();
    assertThat(slabs).as("used since the last check").isEqualTo(32);

    reader.giveTurns(IDLE_TIMEOUT);
    while (slabs > 0) {
      assertThat(reader.sleep()).isEqualTo(TICK);
      reader.giveTurns(TICK);
      assertThat(slabs - slabs()).isBetween(1, ControlBuffers.MAX_TRIMMED);
      slabs = slabs();
    }
    reader.giveTurns(TICK);
    assertThat(reader.sleep()).isEqualTo(Duration.ofSeconds(1));
  }

  private int slabs() {
    return (int) (reader.sinks().registeredBytes() / ScriptedReader.CHUNK_BYTES);
  }

  @Test
  void shouldEndFewConnectionsInEachTurnAndNotSleepBetween() throws VerbsException {
    reader.connectIdle(MANY);
    int before = reader.connections();
    int work = reader.turn(LONGEST_IDLE_LIMIT.toNanos());
    while (reader.connections() > 0) {
      assertThat(before - reader.connections()).isBetween(1, ConnectionEnds.MAX_PER_TURN);
      assertThat(work).as("the agent does not sleep").isPositive();
      before = reader.connections();
      work = reader.turn(MOMENT.toNanos());
    }
    assertThat(reader.turn(MOMENT.toNanos())).as("the agent sleeps").isZero();
  }

  @Test
  void shouldEndAConnectionWithBlocksBeforeIdleOnes() throws VerbsException {
    reader.connectIdle(MANY);
    reader.giveTurns(IDLE_LIMIT.minus(SILENCE).minus(TICK));
    ScriptedTask task = reader.task().fetch(0);
    reader.giveTurns(MOMENT);
    Duration silent = Duration.ZERO;
    while (silent.compareTo(SILENCE.minus(VISIT_ALL)) < 0) {
      reader.giveTurns(VISIT_ALL);
      silent = silent.plus(VISIT_ALL);
    }
    assertThat(task.failures()).isEmpty();
    assertThat(reader.connections()).isEqualTo(MANY + 1);

    reader.giveTurns(VISIT_ALL.plus(VISIT_ALL));

    assertThat(task.failures()).containsExactly(FallbackReason.TIMEOUT);
    assertThat(reader.connections()).isEqualTo(MANY + 1 - ConnectionEnds.MAX_PER_TURN);
  }
}
