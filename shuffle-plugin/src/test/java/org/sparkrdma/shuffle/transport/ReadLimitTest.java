// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.verbs.AccessFlag;

/** The limit of READ bytes of all connections, with READs of 1 KiB and a limit of 8 of them. */
class ReadLimitTest {
  private static final int READ_BYTES = 1 << 10;
  private static final int LIMIT = 8;

  private final PinnedBudget budget = new PinnedBudget(1 << 20, 4_096);
  private final RegisteredPool pool =
      new RegisteredPool(
          new ScriptedConnection.Memory(),
          new ScriptedConnection.Domain(),
          budget,
          Set.of(AccessFlag.LOCAL_WRITE),
          64 << 10,
          1,
          64 << 10);
  private final RegisteredChunk chunk = pool.tryTake().orElseThrow();
  private final ReadLimit limit = new ReadLimit(LIMIT * READ_BYTES);
  private final TransportContext context =
      new TransportContext(
          ShuffleSettings.defaults().transport(1 << 30),
          null,
          null,
          new byte[0],
          null,
          null,
          null,
          new ReadPool(),
          limit,
          null,
          null,
          new ShuffleCounters(),
          null,
          null,
          null,
          () -> 0,
          null);
  private final List<ConnectionReads> turns = new ArrayList<>();

  @AfterEach
  void close() {
    chunk.release();
    pool.close();
  }

  private ConnectionReads reads() {
    return new ConnectionReads(context, chunk, READ_BYTES, turns::add);
  }

  @Test
  void shouldLeaveHalfOfTheLimitToOtherConnections() {
    ConnectionReads one = reads().post(20);
    assertThat(one.posted()).isEqualTo(LIMIT / 2);
    ConnectionReads other = reads().post(20);
    assertThat(other.posted()).isEqualTo(LIMIT / 4);
    assertThat(limit.postedBytes()).isLessThanOrEqualTo(LIMIT * READ_BYTES);
  }

  /** The device would not report READs without a signal, and nothing more would be posted. */
  @Test
  void shouldSignalTheLastReadBeforeAPause() {
    ConnectionReads one = reads().post(20);
    for (int posted = 0; posted < 20; posted += LIMIT / 2) {
      assertThat(one.posted()).isEqualTo(LIMIT / 2);
      one.complete();
      assertThat(one.queue.postedBytes()).isZero();
      one.turn();
    }
    assertThat(one.posted()).isZero();
    assertThat(limit.postedBytes()).isZero();
  }

  @Test
  void shouldGiveTurnsInOrderToConnectionsThatHaveNothingPosted() {
    List<ConnectionReads> first = fill();
    ConnectionReads one = reads().post(3);
    ConnectionReads other = reads().post(1);
    assertThat(one.posted() + other.posted()).isZero();
    assertThat(turns).isEmpty();

    first.get(0).complete();
    assertThat(turns).containsOnly(one);
    assertThat(other.turn().posted()).as("before its turn").isZero();
    assertThat(first.get(1).post(1).posted()).as("of one that has READs posted").isEqualTo(2);

    assertThat(one.turn().posted()).as("one READ while another connection waits").isEqualTo(1);
    assertThat(turns).endsWith(other);
    assertThat(other.turn().posted()).isEqualTo(1);
    assertThat(one.turn().posted()).isEqualTo(2);
  }

  /** Connections that have posted as much as the limit allows. */
  private List<ConnectionReads> fill() {
    List<ConnectionReads> all = new ArrayList<>();
    while (limit.postedBytes() < LIMIT * READ_BYTES) {
      all.add(reads().post(LIMIT));
    }
    assertThat(all).hasSizeGreaterThan(2);
    return all;
  }

  @Test
  void shouldTakeAConnectionThatEndsOutOfTheQueue() {
    List<ConnectionReads> first = fill();
    ConnectionReads ended = reads().post(1);
    ConnectionReads next = reads().post(1);
    ended.queue.clear();
    first.get(0).queue.clear();
    assertThat(turns).contains(next).doesNotContain(ended);
    assertThat(next.turn().posted()).isEqualTo(1);
    next.complete();
    first.subList(1, first.size()).forEach(reads -> reads.queue.clear());
    assertThat(limit.postedBytes()).isZero();
  }

  @Test
  void shouldNotKeepOthersWaitingForAConnectionThatWaitsForItsEnd() {
    List<ConnectionReads> first = fill();
    ConnectionReads broken = reads().post(1);
    ConnectionReads next = reads().post(1);
    broken.queue.stop();
    first.get(0).complete();
    assertThat(turns).contains(next).doesNotContain(broken);
    assertThat(next.turn().posted()).isEqualTo(1);
  }

  @Test
  void shouldKnowWhetherAReadHasWaitedForOtherConnections() {
    List<ConnectionReads> first = fill();
    ConnectionReads waits = reads().post(1);
    assertThat(waits.queue.hasWaitedSince(0)).isTrue();
    assertThat(waits.queue.hasWaitedSince(1)).isFalse();
    first.forEach(ConnectionReads::complete);
    waits.turn();
    ConnectionReads posts = reads().post(1);
    assertThat(posts.queue.hasWaitedSince(0)).isFalse();
  }

  /** Otherwise a time-out of its peer would be taken for load of other connections. */
  @Test
  void shouldNotCountAWaitForTheConnectionsOwnHalf() {
    ConnectionReads one = reads().post(20);
    assertThat(one.posted()).isEqualTo(LIMIT / 2);
    assertThat(one.queue.hasWaitedSince(0)).isFalse();
    ConnectionReads other = reads().post(1);
    one.turn();
    assertThat(one.queue.hasWaitedSince(0)).as("at its own half").isFalse();
    one.complete();
    reads().post(1);
    one.turn();
    assertThat(one.posted()).isLessThan(LIMIT / 2);
    assertThat(one.queue.hasWaitedSince(0)).as("others have the rest").isTrue();
    assertThat(other.queue.hasWaitedSince(0)).isFalse();
  }

  @Test
  void shouldLeaveHalfOfTheLimitAlsoToReadsOfDifferentLengths() {
    ConnectionReads one = reads().post(3, READ_BYTES).post(1, 2 * READ_BYTES);
    assertThat(one.queue.postedBytes()).isEqualTo(3 * READ_BYTES);
    one.complete();
    assertThat(one.turn().queue.postedBytes()).isEqualTo(2 * READ_BYTES);
  }
}
