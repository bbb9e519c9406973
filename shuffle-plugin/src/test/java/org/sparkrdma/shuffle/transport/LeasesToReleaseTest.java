// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.fetch.BlockFetch;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.ReadBatch;

class LeasesToReleaseTest {
  private static final long MAX_WAIT_NS = LeasesToRelease.MAX_WAIT_NS;
  private static final long NOW_NS = Long.MAX_VALUE - 1;
  private static final boolean FOLLOWS = true;
  private static final boolean MAY_FOLLOW = true;

  private final LeasesToRelease leases = new LeasesToRelease();

  private static ReadBatch answer(long leaseId, int blocks, int bytes) {
    List<BlockRange> ranges =
        IntStream.range(0, blocks).mapToObj(map -> new BlockRange(0, map, 0, 1)).toList();
    ReadBatch answer = new ReadBatch();
    answer.begin(leaseId, NOW_NS, NOW_NS);
    new BlockFetch(null, ranges, null, null, done -> {}).blocks().forEach(answer::add);
    answer.countRead();
    answer.markReadDone(bytes);
    return answer;
  }

  private void add(ReadBatch answer) {
    leases.add(answer);
    leases.noteWait(NOW_NS);
  }

  private static ReadBatch small(long leaseId) {
    return answer(leaseId, 1, 1_000);
  }

  private static ReadBatch large(long leaseId) {
    return answer(leaseId, 1, (int) LeasesToRelease.MAX_BYTES + 1);
  }

  private boolean areDueAtOnce() {
    return leases.areDue(!FOLLOWS, MAY_FOLLOW, NOW_NS);
  }

  @Test
  void shouldKeepTheOrderOfTheEnds() {
    leases.add(small(7));
    leases.add(small(3));
    assertThat(leases.contains(3)).isTrue();
    assertThat(leases.take()).isEqualTo(7);
    assertThat(leases.contains(7)).isFalse();
    assertThat(leases.take()).isEqualTo(3);
    assertThat(leases.isEmpty()).isTrue();
  }

  @Test
  void shouldWaitForALocateThatFollowsButNotForLong() {
    add(large(7));
    leases.noteWait(NOW_NS + 1);
    assertThat(leases.areDue(!FOLLOWS, MAY_FOLLOW, NOW_NS + 1)).isTrue();
    assertThat(leases.areDue(FOLLOWS, MAY_FOLLOW, NOW_NS + MAX_WAIT_NS - 1)).isFalse();
    assertThat(leases.areDue(FOLLOWS, MAY_FOLLOW, NOW_NS + MAX_WAIT_NS)).isTrue();
  }

  @Test
  void shouldWaitAnewAfterTheyWereReleased() {
    add(large(7));
    leases.take();
    leases.noteWait(NOW_NS + 1);
    assertThat(leases.areDue(!FOLLOWS, MAY_FOLLOW, NOW_NS + MAX_WAIT_NS)).isFalse();
    leases.add(large(8));
    leases.noteWait(NOW_NS + MAX_WAIT_NS);
    assertThat(leases.areDue(FOLLOWS, MAY_FOLLOW, NOW_NS + MAX_WAIT_NS)).isFalse();
  }

  @Test
  void shouldWaitForTheNextRequestOfATaskButNotForLongWhenTheyHoldLittle() {
    add(small(7));
    assertThat(leases.areDue(!FOLLOWS, MAY_FOLLOW, NOW_NS + MAX_WAIT_NS - 1)).isFalse();
    assertThat(leases.areDue(!FOLLOWS, MAY_FOLLOW, NOW_NS + MAX_WAIT_NS)).isTrue();
  }

  @Test
  void shouldNotWaitForARequestThatCouldNotBeSent() {
    add(small(7));
    assertThat(leases.areDue(!FOLLOWS, !MAY_FOLLOW, NOW_NS)).isTrue();
  }

  @Test
  void shouldCountTheBytesOfAllThatWait() {
    add(answer(7, 1, (int) LeasesToRelease.MAX_BYTES));
    assertThat(areDueAtOnce()).isFalse();
    add(answer(8, 1, 1));
    assertThat(areDueAtOnce()).isTrue();
    leases.take();
    leases.take();
    add(small(9));
    assertThat(areDueAtOnce()).as("a later one").isFalse();
  }

  @Test
  void shouldCountTheBlocksOfAllThatWait() {
    add(answer(7, LeasesToRelease.MAX_BLOCKS, 1_000));
    assertThat(areDueAtOnce()).isFalse();
    add(small(8));
    assertThat(areDueAtOnce()).isTrue();
    leases.take();
    leases.take();
    add(small(9));
    assertThat(areDueAtOnce()).as("a later one").isFalse();
  }

  /** A server has far fewer slots for copies than windows. */
  @Test
  void shouldNotWaitForTheNextRequestWithACopy() {
    ReadBatch copied = small(7);
    copied.markCopy();
    add(copied);
    assertThat(areDueAtOnce()).isTrue();
    leases.take();
    add(small(8));
    assertThat(areDueAtOnce()).as("a later one").isFalse();
  }

  @Test
  void shouldNotWaitForTheNextRequestForASecondAfterABusy() {
    leases.onBusy(NOW_NS - LeasesToRelease.BUSY_NS + 1);
    add(small(7));
    assertThat(areDueAtOnce()).isTrue();
    assertThat(leases.areDue(FOLLOWS, MAY_FOLLOW, NOW_NS)).isFalse();
    assertThat(leases.areDue(!FOLLOWS, MAY_FOLLOW, NOW_NS + 1)).as("a second later").isFalse();
  }
}
