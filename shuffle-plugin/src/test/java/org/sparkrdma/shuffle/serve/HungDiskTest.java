// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/**
 * A server in virtual time with two disks. Disk 0, with shuffle 1, works at once; disk 1, with
 * shuffle 2, does what the test lets it do. Closing checks for leaks.
 */
@Timeout(60)
class HungDiskTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final LoadLimits LIMITS = LoadLimits.of(TIMEOUT);
  private static final int FAST = 1;
  private static final int HUNG = 2;
  private static final int MAPS = 8;
  private static final int PIECES_BYTES = 1000;

  @TempDir Path folder;
  private final AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE - 1_000_000);
  private final FakeDomain domain = new FakeDomain();
  private final PinnedBudget budget = new PinnedBudget(1 << 30, FakeDomain.PAGE);
  private final ShuffleCounters counters = new ShuffleCounters();
  private final ConcurrentLinkedQueue<Runnable> jobs = new ConcurrentLinkedQueue<>();
  private final CountDownLatch reached = new CountDownLatch(1);
  private final CountDownLatch returns = new CountDownLatch(1);
  private BlockServer server;

  @BeforeEach
  void create() throws IOException {
    FakeMapOutputs outputs = DiskServers.outputsOnTwoDisks(folder, MAPS, FAST, HUNG);
    server =
        DiskServers.of(
            outputs,
            domain,
            budget,
            counters,
            TIMEOUT,
            nowNs::get,
            1000,
            List.of(
                new DiskQueue(Runnable::run, DiskServers.THREADS, nowNs::get),
                new DiskQueue(jobs::add, DiskServers.THREADS, nowNs::get)));
  }

  @AfterEach
  void closeAndCheckForLeaks() {
    server.onPeerGone(1);
    server.onPeerGone(2);
    DiskServers.closeWithoutLeases(server, () -> pass(0), FAST, HUNG);
    domain.close();
    budget.close();
  }

  private void pass(long ns) {
    nowNs.addAndGet(ns);
    while (server.doWork() > 0) {
      // Until nothing is left to do.
    }
  }

  private Call ask(int... shuffles) {
    return locate(new Call(shuffles));
  }

  private Call askAs(long peer, int shuffle) {
    return locate(new Call(peer, new int[] {shuffle}, PIECES_BYTES));
  }

  private Call locate(Call call) {
    server.locate(call);
    pass(0);
    return call;
  }

  private void runJobs() {
    for (Runnable job = jobs.poll(); job != null; job = jobs.poll()) {
      job.run();
    }
    pass(0);
  }

  @Test
  void shouldAnswerRequestsThatWaitForADiskThatNeverReturns() {
    List<Call> hung = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      hung.add(ask(HUNG, HUNG));
    }
    Call fast = ask(FAST);
    assertThat(fast.kinds()).containsExactly(Located.Kind.LOCATED);
    assertThat(hung).allMatch(call -> call.answers == 0);
    assertThat(server.untilNextDeadlineNs()).isLessThanOrEqualTo(OpenLocates.CHECK_NS);

    pass(LIMITS.maxWaitNs() + OpenLocates.CHECK_NS);

    assertThat(hung)
        .allMatch(
            call -> call.kinds().equals(List.of(Located.Kind.OVERLOADED, Located.Kind.OVERLOADED)));
    assertThat(counters.value(Counter.LOCATES_OVERLOADED)).isEqualTo(20);
    assertThat(ask(HUNG).kinds()).as("at once").containsExactly(Located.Kind.OVERLOADED);
    assertThat(ask(FAST).kinds()).containsExactly(Located.Kind.LOCATED);

    runJobs();
    assertThat(hung).allMatch(call -> call.answers == 1);
    assertThat(domain.fileCalls()).as("only of the fast disk").isEqualTo(1);
    Call later = ask(HUNG);
    runJobs();
    assertThat(later.kinds()).containsExactly(Located.Kind.LOCATED);
  }

  private Thread hangInRegistration() {
    domain.beforeRegistration(
        file -> {
          if (file.getFileName().toString().contains("shuffle_2_")) {
            reached.countDown();
            await(returns);
          }
        });
    Thread disk = new Thread(this::runOneJob);
    disk.start();
    await(reached);
    return disk;
  }

  private void runOneJob() {
    jobs.remove().run();
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
    Call call = ask(HUNG, HUNG, HUNG);
    Thread disk = hangInRegistration();
    pass(LIMITS.maxHangNs());
    assertThat(call.answers).isZero();

    pass(2 * OpenLocates.CHECK_NS);

    assertThat(call.kinds()).hasSize(3).containsOnly(Located.Kind.OVERLOADED);
    assertThat(call.leaseId()).isZero();
    call.useBuffersForSomethingElse();
    returns.countDown();
    disk.join();
    pass(0);
    assertThat(call.answers).isEqualTo(1);
    assertThat(call.isUntouched()).isTrue();
    assertThat(domain.fileCalls()).as("no further block").isEqualTo(1);
    assertThat(counters.value(Counter.LOCATES_OVERLOADED)).isEqualTo(1);
  }

  @Test
  void shouldDropARequestOfAnEndedConnectionOfWhichADiskReadHangs() throws Exception {
    Call call = ask(HUNG, FAST);
    Thread disk = hangInRegistration();
    call.closed = true;
    server.onPeerGone(1);
    pass(OpenLocates.CHECK_NS);
    assertThat(call.answers).isEqualTo(1);
    call.useBuffersForSomethingElse();

    returns.countDown();
    disk.join();

    assertThat(call.isUntouched()).isTrue();
    assertThat(counters.value(Counter.LOCATES_DROPPED)).isEqualTo(1);
  }

  @Test
  void shouldAnswerBlocksOfAFastDiskWithoutThoseOfASlowOne() {
    Call call = ask(HUNG, FAST, HUNG, FAST, HUNG);
    assertThat(call.answers).isZero();

    pass(LIMITS.maxHoldNs() + OpenLocates.CHECK_NS);

    assertThat(call.blocks()).containsExactly(1, 3);
    assertThat(call.kinds()).containsOnly(Located.Kind.LOCATED);
    assertThat(call.isHeldBack()).isTrue();
    Call rest = ask(HUNG, HUNG, HUNG);
    pass(LIMITS.maxHoldNs() + OpenLocates.CHECK_NS);
    assertThat(rest.answers).as("waits for its disk").isZero();
    runJobs();
    assertThat(rest.blocks()).containsExactly(0, 1, 2);
    assertThat(rest.kinds()).containsOnly(Located.Kind.LOCATED);
    assertThat(rest.isHeldBack()).isFalse();
    assertThat(call.answers).isEqualTo(1);
  }

  @Test
  void shouldAnswerBlocksOfAFastDiskWhileAReadOfASlowOneHangs() throws Exception {
    Call call = ask(HUNG, FAST, HUNG);
    Thread disk = hangInRegistration();

    pass(LIMITS.maxHoldNs() + OpenLocates.CHECK_NS);

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
    nowNs.addAndGet(LIMITS.maxWaitNs() + OpenLocates.CHECK_NS);

    Call call = ask(FAST, HUNG, FAST, HUNG);

    assertThat(call.blocks()).containsExactly(0, 1, 2, 3);
    assertThat(call.kinds())
        .containsExactly(
            Located.Kind.LOCATED,
            Located.Kind.OVERLOADED,
            Located.Kind.LOCATED,
            Located.Kind.OVERLOADED);
    assertThat(counters.value(Counter.LOCATES_OVERLOADED)).isEqualTo(DiskServers.THREADS + 1);
  }

  /** One request more than the threads of the disk take from a single peer. */
  private void fillDisk() {
    for (int i = 0; i < DiskServers.THREADS; i++) {
      ask(HUNG);
    }
  }

  @Test
  void shouldRefuseRequestsOfEachPeerAtOnceWhileAllThreadsOfADiskHang() {
    fillDisk();
    pass(LIMITS.maxWaitNs() + OpenLocates.CHECK_NS);
    int maxThreads = DiskTurns.GROWTH * DiskServers.THREADS;
    int others = maxThreads - jobs.size();
    for (int i = 0; i < others; i++) {
      assertThat(askAs(100 + i, HUNG).answers).as("a thread is free for it").isZero();
    }
    assertThat(jobs).hasSize(maxThreads);
    Call waits = askAs(3, HUNG);
    assertThat(waits.answers).as("the disk has begun a job just now").isZero();
    pass(LIMITS.maxWaitNs() + OpenLocates.CHECK_NS);

    assertThat(waits.kinds()).containsExactly(Located.Kind.OVERLOADED);
    assertThat(askAs(4, HUNG).kinds()).as("at once").containsExactly(Located.Kind.OVERLOADED);

    runJobs();
    Call later = askAs(4, HUNG);
    runJobs();
    assertThat(later.kinds()).containsExactly(Located.Kind.LOCATED);
    server.onPeerGone(4);
    for (int i = 0; i < others; i++) {
      server.onPeerGone(100 + i);
    }
  }

  @Test
  void shouldStartAThreadForABlockThatWaitsForReadsInProgress() {
    fillDisk();
    askAs(2, HUNG);
    assertThat(jobs).hasSize(DiskServers.THREADS);
    Call waits = askAs(3, HUNG);
    assertThat(jobs).hasSize(DiskServers.THREADS);
    assertThat(server.untilNextDeadlineNs()).isLessThanOrEqualTo(OpenLocates.CHECK_NS);

    pass(OpenLocates.CHECK_NS);

    assertThat(jobs).hasSize(DiskServers.THREADS + 1);
    runJobs();
    assertThat(waits.kinds()).containsExactly(Located.Kind.LOCATED);
    server.onPeerGone(3);
  }

  @Test
  void shouldAnswerBlocksOfAllDisksInTheirOrderUnderOneLease() {
    Call call = ask(HUNG, FAST, HUNG, FAST);
    runJobs();

    assertThat(call.blocks()).containsExactly(0, 1, 2, 3);
    assertThat(call.kinds()).containsOnly(Located.Kind.LOCATED);
    server.release(1, new long[] {call.leaseId()}, () -> {});
    List<Integer> unregistered = new ArrayList<>();
    server.unregisterShuffle(FAST, () -> unregistered.add(FAST));
    server.unregisterShuffle(HUNG, () -> unregistered.add(HUNG));
    pass(0);
    assertThat(unregistered).as("the lease held all").containsExactly(FAST, HUNG);
  }

  @Test
  void shouldGiveALeaseItsWholeTimeFromItsAnswerOn() {
    long waitNs = LIMITS.maxHoldNs() / 2;
    Call slow = ask(HUNG);
    pass(waitNs);
    Call fast = ask(FAST);
    pass(waitNs);
    runJobs();

    assertThat(fast.remainingMs()).isEqualTo(DiskServers.LEASE.toMillis());
    assertThat(slow.remainingMs()).isEqualTo(DiskServers.LEASE.toMillis());
    pass(DiskServers.LEASE.toNanos() - waitNs);
    assertThat(counters.value(Counter.LEASES_EXPIRED)).as("that of the fast disk").isEqualTo(1);
    assertThat(server.untilNextDeadlineNs()).isEqualTo(waitNs);
    pass(waitNs);
    assertThat(counters.value(Counter.LEASES_EXPIRED)).isEqualTo(2);
  }

  @Test
  void shouldLeaveOutWhatDoesNotFitIntoTheAnswer() {
    Call call =
        new Call(
            1, new int[] {HUNG, FAST, HUNG, FAST}, 3 * (Located.PIECE_BYTES + Located.SUM_BYTES));
    server.locate(call);
    pass(0);
    runJobs();

    assertThat(call.blocks()).containsExactly(0, 1, 2);
    assertThat(call.kinds()).containsOnly(Located.Kind.LOCATED);
  }

  /** Requests four blocks of disk 1 by a LOCATE whose answer has room for three. */
  private Call askForMoreThanFits() {
    return locate(
        new Call(
            1, new int[] {HUNG, HUNG, HUNG, HUNG}, 3 * (Located.PIECE_BYTES + Located.SUM_BYTES)));
  }

  @Test
  void shouldNameTheLoadWhenAnAnswerWithAPartHasOnlyWaitedForAThread() {
    Call call = askForMoreThanFits();
    pass(LIMITS.maxHoldNs() + OpenLocates.CHECK_NS);
    runJobs();

    assertThat(call.blocks()).containsExactly(0, 1, 2);
    assertThat(call.isHeldBack()).as("the disk").isFalse();
    assertThat(call.isDelayedByLoad()).as("the load").isTrue();
  }

  @Test
  void shouldNameTheLoadWhenAnAnswerWithAPartHasWaitedForTheServersThread() {
    Call call =
        new Call(
            1, new int[] {FAST, FAST, FAST, FAST}, 3 * (Located.PIECE_BYTES + Located.SUM_BYTES));
    ask(FAST, FAST, FAST, FAST);
    server.locate(call);
    pass(LIMITS.maxHoldNs() + OpenLocates.CHECK_NS);

    assertThat(call.blocks()).containsExactly(0, 1, 2);
    assertThat(call.isHeldBack()).as("the disk").isFalse();
    assertThat(call.isDelayedByLoad()).as("the load").isTrue();
  }

  @Test
  void shouldNameTheDiskWhenItsReadsForAnAnswerWithAPartTakeLong() {
    Call call = askForMoreThanFits();
    long readNs = LIMITS.maxHoldNs() / 3 + 1;
    domain.beforeRegistration(file -> nowNs.addAndGet(readNs));
    runJobs();

    assertThat(call.blocks()).containsExactly(0, 1, 2);
    assertThat(call.isHeldBack()).as("the disk").isTrue();
    assertThat(call.isDelayedByLoad()).as("the load").isFalse();
  }

  @Test
  void shouldNameNoCauseWhenAnAnswerWithAPartIsQuick() {
    Call call = askForMoreThanFits();
    runJobs();

    assertThat(call.blocks()).containsExactly(0, 1, 2);
    assertThat(call.isHeldBack()).isFalse();
    assertThat(call.isDelayedByLoad()).isFalse();
  }

  /** A LOCATE for one block of each of several map outputs. */
  private static final class Call extends TestLocateCall {
    private static final byte OTHER = 77;

    private int answers;
    private int lengthBytes;
    private boolean closed;

    Call(int... shuffles) {
      this(1, shuffles, PIECES_BYTES);
    }

    Call(long peer, int[] shuffles, int piecesBytes) {
      super(
          peer, ByteBuffer.allocate(1000), ByteBuffer.allocate(Located.HEADER_BYTES + piecesBytes));
      Locate.Encoder encoder = new Locate.Encoder().begin(request(), 1);
      for (int i = 0; i < shuffles.length; i++) {
        encoder.block(shuffles[i], i, 0, 1, 0, false);
      }
      int length = encoder.finish();
      request().position(0).limit(length);
    }

    private Located.Decoder decoder() {
      assertThat(answers).isEqualTo(1);
      return new Located.Decoder().begin(answer().slice(0, lengthBytes));
    }

    long leaseId() {
      return decoder().leaseId();
    }

    long remainingMs() {
      return decoder().leaseRemainingMs();
    }

    List<Located.Kind> kinds() {
      List<Located.Kind> kinds = new ArrayList<>();
      for (Located.Decoder in = decoder(); in.nextPiece(); ) {
        kinds.add(in.kind());
      }
      return kinds;
    }

    List<Integer> blocks() {
      List<Integer> blocks = new ArrayList<>();
      for (Located.Decoder in = decoder(); in.nextPiece(); ) {
        blocks.add(in.blockIndex());
      }
      return blocks;
    }

    boolean isHeldBack() {
      Located.Decoder in = decoder();
      return in.nextPiece() && in.isHeldBack();
    }

    boolean isDelayedByLoad() {
      Located.Decoder in = decoder();
      return in.nextPiece() && in.isDelayedByLoad();
    }

    void useBuffersForSomethingElse() {
      for (ByteBuffer buffer : List.of(request(), answer())) {
        for (int i = 0; i < buffer.limit(); i++) {
          buffer.put(i, OTHER);
        }
      }
    }

    boolean isUntouched() {
      for (int i = 0; i < answer().capacity(); i++) {
        if (answer().get(i) != OTHER) {
          return false;
        }
      }
      return true;
    }

    @Override
    public boolean isClosed() {
      return closed;
    }

    @Override
    public void answered(int newLengthBytes) {
      answers++;
      lengthBytes = newLengthBytes;
    }

    @Override
    public void malformed(String reason) {
      throw new AssertionError(reason);
    }
  }
}
