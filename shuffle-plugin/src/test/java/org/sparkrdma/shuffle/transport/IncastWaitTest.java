// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.VerbsException;

/**
 * Waits for receive memory while READs over eight connections fill the limit of READ bytes, in
 * virtual time.
 */
@Timeout(60)
class IncastWaitTest {
  private static final int READ_BYTES = ScriptedReader.CHUNK_BYTES;
  private static final int POOL = 64 * ScriptedReader.CHUNK_BYTES;
  private static final int BLOCK_BYTES = 100 << 10;
  private static final int HOLDERS = 10;
  private static final long NO_COPIES = 0;
  private static final int CONNECTIONS = 8;

  private final RegisteredPool otherPool =
      new RegisteredPool(
          new ScriptedConnection.Memory(),
          new ScriptedConnection.Domain(),
          new PinnedBudget(1 << 20, 4_096),
          Set.of(AccessFlag.LOCAL_WRITE),
          READ_BYTES,
          1,
          READ_BYTES);
  private final RegisteredChunk otherChunk = otherPool.tryTake().orElseThrow();
  private final List<ConnectionReads> others = new ArrayList<>();
  private final List<ScriptedTask> holders = new ArrayList<>();
  private ScriptedReader reader;
  private int nextToComplete;

  @BeforeEach
  void open() throws VerbsException {
    int[] lengths = new int[HOLDERS + 1];
    Arrays.fill(lengths, BLOCK_BYTES);
    ReadLimit limit = new ReadLimit((long) CONNECTIONS * READ_BYTES);
    reader = new ScriptedReader(limit, POOL, NO_COPIES, lengths);
  }

  @AfterEach
  void close() {
    holders.forEach(ScriptedTask::releaseAll);
    reader.close();
    others.forEach(reads -> reads.queue.clear());
    otherChunk.release();
    otherPool.close();
  }

  /** Connections with more READs than the limit lets them post. */
  private void beginIncast() {
    for (int i = 0; i < CONNECTIONS; i++) {
      others.add(reader.otherReads(otherChunk).post(400));
    }
  }

  /** Time in which a READ of one of these connections completes each millisecond. */
  private void pass(int milliseconds) {
    for (int i = 0; i < milliseconds; i++) {
      reader.stepWithoutReads();
      others.get(nextToComplete++ % CONNECTIONS).complete();
      others.forEach(ConnectionReads::turn);
    }
  }

  @Test
  void shouldUseTcpAfterASecondWhileReadsHoldTheMemory() {
    beginIncast();
    for (int map = 0; map < HOLDERS; map++) {
      holders.add(reader.task(100 + map).fetch(map));
    }
    pass(2);
    ScriptedTask waiting = reader.task(1).fetch(HOLDERS);
    pass(990);
    assertThat(waiting.failures()).isEmpty();
    assertThat(waiting.blocksHeld()).isZero();
    assertThat(holders).allMatch(task -> task.failures().isEmpty() && task.blocksHeld() == 0);
    pass(20);
    assertThat(waiting.failures()).containsExactly(FallbackReason.POOL_EMPTY);
    assertThat(waiting.lastAnswerMs()).isBetween(1_000L + 2, 1_000L + 5);
    assertThat(reader.counters().value(Counter.MEMORY_WAITS_LONGER)).isEqualTo(1);
  }

  @Test
  void shouldUseTcpAfterTensOfMillisecondsWhileUnreadBlocksHoldTheMemory() {
    for (int map = 0; map < HOLDERS; map++) {
      ScriptedTask holder = reader.task(100 + map).fetch(map);
      reader.run(5);
      assertThat(holder.blocksHeld()).isEqualTo(1);
      holders.add(holder);
    }
    beginIncast();
    pass(2);
    ScriptedTask waiting = reader.task(1).fetch(HOLDERS);
    long beganMs = 5L * HOLDERS + 2;
    pass(29);
    assertThat(waiting.failures()).isEmpty();
    pass(11);
    assertThat(waiting.failures()).containsExactly(FallbackReason.POOL_EMPTY);
    assertThat(waiting.lastAnswerMs() - beganMs).isBetween(30L, 33L);
    assertThat(reader.counters().value(Counter.MEMORY_WAITS_100_MS)).isZero();
  }
}
