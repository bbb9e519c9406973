// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.verbs.VerbsException;

/** Polls of the completion queues of idle connections by an agent that spins. */
@Timeout(60)
class IdleQueuesTest {
  private static final int POOL = 64 * ScriptedReader.CHUNK_BYTES;
  private static final int CONNECTIONS = 200;
  private static final int QUEUES = 4;
  private static final int ROUNDS = 100;
  private static final int ITERATIONS = ROUNDS * TransportAgent.ITERATIONS_PER_FULL_POLL;

  private ScriptedReader reader;
  private List<PolledQueue> queues;

  @BeforeEach
  void connect() throws VerbsException {
    reader = ScriptedReader.ofManyConnections(POOL, 1_000);
    reader.connectIdle(CONNECTIONS);
    reader.usePolls(() -> {});
    queues = reader.queues();
    assertThat(queues).hasSize(QUEUES);
    iterate(2 * CompletionQueues.IDLE_POLLS);
  }

  @AfterEach
  void close() {
    reader.close();
  }

  private void iterate(int count) {
    for (int i = 0; i < count; i++) {
      reader.iterate(100);
      reader.answerAll();
    }
  }

  private long polls() {
    return queues.stream().mapToLong(PolledQueue::polls).sum();
  }

  @Test
  void shouldPollIdleQueuesInEachSixteenthIteration() {
    long before = polls();
    iterate(ITERATIONS);
    assertThat(polls() - before).isEqualTo((long) ROUNDS * QUEUES);
  }

  @Test
  void shouldPollTheQueueOfAConnectionThatFetchesInEachIterationAndTheOthersRarely() {
    ScriptedTask task = reader.task();
    long ofFirst = queues.get(0).polls();
    long ofAll = polls();
    for (int i = 0; i < ITERATIONS; i++) {
      if (task.blocksHeld() == 0) {
        task.fetch(0);
      }
      iterate(1);
      task.releaseAll();
    }
    assertThat(queues.get(0).polls() - ofFirst).isBetween(ITERATIONS - 16L, (long) ITERATIONS);
    assertThat(polls() - ofAll)
        .isBetween(ITERATIONS - 16L, (long) ITERATIONS + (QUEUES - 1L) * ROUNDS);
  }

  @Test
  void shouldTakeACompletionOfAnIdleQueueWithinSixteenIterationsAndPollThatQueueThen() {
    PolledQueue last = queues.get(QUEUES - 1);
    for (int offset = 0; offset < TransportAgent.ITERATIONS_PER_FULL_POLL; offset++) {
      iterate(offset);
      last.completeStrangeWork();
      int iterations = 0;
      while (!last.isEmpty()) {
        iterate(1);
        iterations++;
      }
      assertThat(iterations).isBetween(1, TransportAgent.ITERATIONS_PER_FULL_POLL);
      long before = last.polls();
      iterate(CompletionQueues.IDLE_POLLS / 2);
      assertThat(last.polls() - before).isEqualTo(CompletionQueues.IDLE_POLLS / 2);
      iterate(2 * CompletionQueues.IDLE_POLLS);
    }
  }

  @Test
  void shouldPollTheQueueOfAConnectionWithPostedWorkInEachIteration() {
    ScriptedTask task = reader.task().fetch(0);
    PolledQueue first = queues.get(0);
    reader.iterate(100);
    assertThat(reader.messagesPosted()).isEqualTo(1);
    long before = first.polls();
    for (int i = 0; i < 8; i++) {
      reader.iterate(100);
    }
    assertThat(first.polls() - before).isEqualTo(8);
    while (task.blocksHeld() == 0) {
      iterate(1);
    }
    task.releaseAll();
  }
}
