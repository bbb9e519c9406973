// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkrdma.shuffle.serve.TwoDisks.FAST;
import static org.sparkrdma.shuffle.serve.TwoDisks.LIMITS;
import static org.sparkrdma.shuffle.serve.TwoDisks.SLOW;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.wire.Located;

/** Blocks, order and lease of the answer to a request for blocks of two disks. */
@Timeout(60)
class TwoDisksAnswersTest {
  @TempDir Path folder;
  private TwoDisks on;

  @BeforeEach
  void create() throws IOException {
    on = new TwoDisks(folder, DiskServers.windows(1000));
  }

  @AfterEach
  void closeAndCheckForLeaks() {
    on.close();
  }

  @Test
  void shouldAnswerBlocksOfAFastDiskWithoutThoseOfASlowOne() {
    DiskCall call = on.ask(SLOW, FAST, SLOW, FAST, SLOW);
    assertThat(call.answers()).isZero();

    on.pass(LIMITS.maxHoldNs() + OpenLocates.CHECK_NS);

    assertThat(call.blocks()).containsExactly(1, 3);
    assertThat(call.kinds()).containsOnly(Located.Kind.LOCATED);
    assertThat(call.isHeldBack()).isTrue();
    DiskCall rest = on.ask(SLOW, SLOW, SLOW);
    on.pass(LIMITS.maxHoldNs() + OpenLocates.CHECK_NS);
    assertThat(rest.answers()).as("waits for its disk").isZero();
    on.runJobs();
    assertThat(rest.blocks()).containsExactly(0, 1, 2);
    assertThat(rest.kinds()).containsOnly(Located.Kind.LOCATED);
    assertThat(rest.isHeldBack()).isFalse();
    assertThat(call.answers()).isEqualTo(1);
  }

  @Test
  void shouldAnswerBlocksOfAllDisksInTheirOrderUnderOneLease() {
    DiskCall call = on.ask(SLOW, FAST, SLOW, FAST);
    on.runJobs();

    assertThat(call.blocks()).containsExactly(0, 1, 2, 3);
    assertThat(call.kinds()).containsOnly(Located.Kind.LOCATED);
    on.server.release(1, new long[] {call.leaseId()}, () -> {});
    List<Integer> unregistered = new ArrayList<>();
    on.server.unregisterShuffle(FAST, () -> unregistered.add(FAST));
    on.server.unregisterShuffle(SLOW, () -> unregistered.add(SLOW));
    on.pass(0);
    assertThat(unregistered).as("the lease held all").containsExactly(FAST, SLOW);
  }

  @Test
  void shouldGiveALeaseItsWholeTimeFromItsAnswerOn() {
    long waitNs = LIMITS.maxHoldNs() / 2;
    DiskCall slow = on.ask(SLOW);
    on.pass(waitNs);
    DiskCall fast = on.ask(FAST);
    on.pass(waitNs);
    on.runJobs();

    assertThat(fast.remainingMs()).isEqualTo(DiskServers.LEASE.toMillis());
    assertThat(slow.remainingMs()).isEqualTo(DiskServers.LEASE.toMillis());
    on.pass(DiskServers.LEASE.toNanos() - waitNs);
    assertThat(on.count(Counter.LEASES_EXPIRED)).as("that of the fast disk").isEqualTo(1);
    assertThat(on.server.untilNextDeadlineNs()).isEqualTo(waitNs);
    on.pass(waitNs);
    assertThat(on.count(Counter.LEASES_EXPIRED)).isEqualTo(2);
  }

  @Test
  void shouldLeaveOutWhatDoesNotFitIntoTheAnswer() {
    DiskCall call = on.locate(DiskCall.withRoomForThree(1, SLOW, FAST, SLOW, FAST));
    on.runJobs();

    assertThat(call.blocks()).containsExactly(0, 1, 2);
    assertThat(call.kinds()).containsOnly(Located.Kind.LOCATED);
  }
}
