// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkrdma.shuffle.serve.TwoDisks.FAST;
import static org.sparkrdma.shuffle.serve.TwoDisks.LIMITS;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.wire.Located;

/** A disk that does not return, or only late, and another one that works at once. */
@Timeout(60)
class HungDiskTest {
  private static final int HUNG = TwoDisks.SLOW;

  @TempDir Path folder;
  private final CountDownLatch reached = new CountDownLatch(1);
  private final CountDownLatch returns = new CountDownLatch(1);
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
  void shouldAnswerRequestsThatWaitForADiskThatNeverReturns() {
    List<DiskCall> hung = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      hung.add(on.ask(HUNG, HUNG));
    }
    DiskCall fast = on.ask(FAST);
    assertThat(fast.kinds()).containsExactly(Located.Kind.LOCATED);
    assertThat(hung).allMatch(call -> call.answers() == 0);
    assertThat(on.server.untilNextDeadlineNs()).isLessThanOrEqualTo(OpenLocates.CHECK_NS);

    on.pass(LIMITS.maxWaitNs() + OpenLocates.CHECK_NS);

    assertThat(hung)
        .allMatch(
            call -> call.kinds().equals(List.of(Located.Kind.OVERLOADED, Located.Kind.OVERLOADED)));
    assertThat(on.count(Counter.LOCATES_OVERLOADED)).isEqualTo(20);
    assertThat(on.ask(HUNG).kinds()).as("at once").containsExactly(Located.Kind.OVERLOADED);
    assertThat(on.ask(FAST).kinds()).containsExactly(Located.Kind.LOCATED);

    on.runJobs();
    assertThat(hung).allMatch(call -> call.answers() == 1);
    assertThat(on.domain.fileCalls()).as("only of the fast disk").isEqualTo(1);
    DiskCall later = on.ask(HUNG);
    on.runJobs();
    assertThat(later.kinds()).containsExactly(Located.Kind.LOCATED);
  }

  private Thread hangInRegistration() {
    on.domain.beforeRegistration(
        file -> {
          if (file.getFileName().toString().contains("shuffle_" + HUNG + "_")) {
            reached.countDown();
            await(returns);
          }
        });
    Thread disk = new Thread(on.jobs.remove());
    disk.start();
    await(reached);
    return disk;
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void shouldAnswerARequestOfWhichADiskReadHangs() throws Exception {
    DiskCall call = on.ask(HUNG, HUNG, HUNG);
    Thread disk = hangInRegistration();
    on.pass(LIMITS.maxHangNs());
    assertThat(call.answers()).isZero();

    on.pass(2 * OpenLocates.CHECK_NS);

    assertThat(call.kinds()).hasSize(3).containsOnly(Located.Kind.OVERLOADED);
    assertThat(call.leaseId()).isZero();
    call.useBuffersForSomethingElse();
    returns.countDown();
    disk.join();
    on.pass(0);
    assertThat(call.answers()).isEqualTo(1);
    assertThat(call.isUntouched()).isTrue();
    assertThat(on.domain.fileCalls()).as("no further block").isEqualTo(1);
    assertThat(on.count(Counter.LOCATES_OVERLOADED)).isEqualTo(1);
  }

  @Test
  void shouldDropARequestOfAnEndedConnectionOfWhichADiskReadHangs() throws Exception {
    DiskCall call = on.ask(HUNG, FAST);
    Thread disk = hangInRegistration();
    on.endConnection(call);
    assertThat(call.answers()).isEqualTo(1);
    call.useBuffersForSomethingElse();

    returns.countDown();
    disk.join();

    assertThat(call.isUntouched()).isTrue();
    assertThat(on.count(Counter.LOCATES_DROPPED)).isEqualTo(1);
  }

  @Test
  void shouldAnswerBlocksOfAFastDiskWhileAReadOfASlowOneHangs() throws Exception {
    DiskCall call = on.ask(HUNG, FAST, HUNG);
    Thread disk = hangInRegistration();

    on.pass(LIMITS.maxHoldNs() + OpenLocates.CHECK_NS);

    assertThat(call.blocks()).containsExactly(1);
    assertThat(call.leaseId()).isNotZero();
    assertThat(call.isHeldBack()).isTrue();
    call.useBuffersForSomethingElse();
    returns.countDown();
    disk.join();
    assertThat(call.isUntouched()).isTrue();
  }

  @Test
  void shouldSendOnlyBlocksOfTheOverloadedDiskToTcp() {
    fillDisk();
    on.skip(LIMITS.maxWaitNs() + OpenLocates.CHECK_NS);

    DiskCall call = on.ask(FAST, HUNG, FAST, HUNG);

    assertThat(call.blocks()).containsExactly(0, 1, 2, 3);
    assertThat(call.kinds())
        .containsExactly(
            Located.Kind.LOCATED,
            Located.Kind.OVERLOADED,
            Located.Kind.LOCATED,
            Located.Kind.OVERLOADED);
    assertThat(on.count(Counter.LOCATES_OVERLOADED)).isEqualTo(DiskServers.THREADS + 1);
  }

  /** One request more than the threads of the disk take from a single peer. */
  private void fillDisk() {
    for (int i = 0; i < DiskServers.THREADS; i++) {
      on.ask(HUNG);
    }
  }

  @Test
  void shouldRefuseRequestsOfEachPeerAtOnceWhileAllThreadsOfADiskHang() {
    fillDisk();
    on.pass(LIMITS.maxWaitNs() + OpenLocates.CHECK_NS);
    int maxThreads = DiskTurns.GROWTH * DiskServers.THREADS;
    int others = maxThreads - on.jobs.size();
    for (int i = 0; i < others; i++) {
      assertThat(on.askAs(100 + i, HUNG).answers()).as("a thread is free for it").isZero();
    }
    assertThat(on.jobs).hasSize(maxThreads);
    DiskCall waits = on.askAs(3, HUNG);
    assertThat(waits.answers()).as("the disk has begun a job just now").isZero();
    on.pass(LIMITS.maxWaitNs() + OpenLocates.CHECK_NS);

    assertThat(waits.kinds()).containsExactly(Located.Kind.OVERLOADED);
    assertThat(on.askAs(4, HUNG).kinds()).as("at once").containsExactly(Located.Kind.OVERLOADED);

    on.runJobs();
    DiskCall later = on.askAs(4, HUNG);
    on.runJobs();
    assertThat(later.kinds()).containsExactly(Located.Kind.LOCATED);
  }

  @Test
  void shouldStartAThreadForABlockThatWaitsForReadsInProgress() {
    fillDisk();
    on.askAs(2, HUNG);
    assertThat(on.jobs).hasSize(DiskServers.THREADS);
    DiskCall waits = on.askAs(3, HUNG);
    assertThat(on.jobs).hasSize(DiskServers.THREADS);
    assertThat(on.server.untilNextDeadlineNs()).isLessThanOrEqualTo(OpenLocates.CHECK_NS);

    on.pass(OpenLocates.CHECK_NS);

    assertThat(on.jobs).hasSize(DiskServers.THREADS + 1);
    on.runJobs();
    assertThat(waits.kinds()).containsExactly(Located.Kind.LOCATED);
  }
}
