// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.serve.ServerFixture.Wanted;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.ServeSettings.Mode;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.Located.Kind;
import org.sparkrdma.verbs.device.Capability;

/**
 * Many windows are evicted for one use, which takes long on a card. Threads that wait for the
 * server's lock have it after a few of them.
 */
@Timeout(60)
class LongEvictionsTest {
  private static final int WINDOWS = 100;
  private static final int PAGE = (int) FakeDomain.PAGE;
  private static final int LARGE = WINDOWS;

  @TempDir Path folder;
  private final Random random = new Random(4);

  /** A full budget: each window has a page of it, and none has a lease. */
  private ServerFixture withIdleWindows(Mode mode, int slots, int windows) throws IOException {
    ServerFixture on =
        ServerFixture.of(
            folder,
            new ServeSettings(
                mode,
                1 << 20,
                ServerFixture.SLOT,
                slots,
                ServerFixture.LEASE,
                1000,
                1000,
                100,
                ServerFixture.IDLE,
                false,
                false),
            (long) windows * PAGE,
            1000,
            EnumSet.of(Capability.FILE_REGIONS));
    for (int map = 0; map < windows; map++) {
      on.outputs.write(1, map, random, true, 100);
      on.release(9, on.ask(9, Wanted.of(1, map, 0, 1)).leaseId);
    }
    assertThat(on.budget.availableBytes()).isZero();
    return on;
  }

  /** Another thread that uses the server while windows are evicted. */
  private static final class OtherThread {
    private final BlockServer server;
    private final FakeDomain domain;
    private final Thread thread;

    /**
     * @param from number of the eviction at which the thread begins to wait for the lock
     */
    OtherThread(BlockServer server, FakeDomain domain, int from, Runnable work) {
      this.server = server;
      this.domain = domain;
      thread = new Thread(work, "other");
      domain.onDeregistration(() -> beginAt(from));
    }

    private void beginAt(int from) {
      if (domain.deregistered().size() == from) {
        thread.start();
        try {
          ServerLock.awaitQueued(server, thread);
        } catch (ReflectiveOperationException e) {
          throw new IllegalStateException(e);
        }
      }
    }

    void join() throws InterruptedException {
      thread.join();
    }
  }

  /** Number of evictions before another thread, which waits from one of them on, had the lock. */
  private int evictionsBeforeAnotherThread(ServerFixture on, int from, Runnable work)
      throws Exception {
    StateLock state = ServerLock.of(on.server);
    int[] evictions = new int[1];
    OtherThread other =
        new OtherThread(
            on.server,
            on.domain,
            from,
            () -> {
              state.lock();
              evictions[0] = on.domain.deregistered().size();
              state.unlock();
            });
    work.run();
    other.join();
    return evictions[0];
  }

  @Test
  void shouldLetOtherThreadsInWhileALargeWindowNeedsTheRoomOfMany() throws Exception {
    try (ServerFixture on = withIdleWindows(Mode.WINDOW, 0, WINDOWS)) {
      on.outputs.write(1, LARGE, random, true, WINDOWS * PAGE);
      List<ServerFixture.Answer> answers = new ArrayList<>();
      int evictions =
          evictionsBeforeAnotherThread(
              on, 1, () -> answers.add(on.ask(9, Wanted.of(1, LARGE, 0, 1))));
      assertThat(evictions).isLessThanOrEqualTo(IdleMemory.MAX_REGIONS);
      assertThat(on.domain.deregistered()).hasSize(WINDOWS);
      assertThat(answers.get(0).read(0)).isEqualTo(on.outputs.expected(1, LARGE, 0, 1));
    }
  }

  @Test
  void shouldLetOtherThreadsInWhileCopySlotsNeedTheRoomOfManyWindows() throws Exception {
    int windows = 2 * WINDOWS;
    try (ServerFixture on = withIdleWindows(Mode.AUTO, 16, windows)) {
      on.outputs.write(1, windows, random, true, 100);
      on.domain.refuseFiles(true);
      List<ServerFixture.Answer> answers = new ArrayList<>();
      // The first one makes room for the window that the device refuses.
      int evictions =
          evictionsBeforeAnotherThread(
              on, 2, () -> answers.add(on.ask(9, Wanted.of(1, windows, 0, 1))));
      assertThat(evictions).isLessThanOrEqualTo(1 + IdleMemory.MAX_REGIONS);
      assertThat(on.domain.deregistered()).hasSizeGreaterThan(2 * IdleMemory.MAX_REGIONS);
      assertThat(answers.get(0).read(0)).isEqualTo(on.outputs.expected(1, windows, 0, 1));
    }
  }

  /**
   * The thread that has made it is always faster: when it releases the lock, it has it again before
   * a thread that waits wakes up. Only where it waits, others have the lock.
   */
  private static final class UnfairLock extends StateLock.HeldLock {
    private static final long serialVersionUID = 1;

    private final transient Thread fast = Thread.currentThread();

    private boolean keeps() {
      return Thread.currentThread() == fast && isHeldByCurrentThread();
    }

    @Override
    public void lock() {
      if (!keeps()) {
        super.lock();
      }
    }

    @Override
    public boolean tryLock() {
      return keeps() || super.tryLock();
    }

    @Override
    public void unlock() {
      if (!keeps()) {
        super.unlock();
      }
    }

    /** Releases the lock. */
    void end() {
      super.unlock();
    }
  }

  @Test
  void shouldLetOtherThreadsInWhileAShortageNeedsTheRoomOfManyWindows() throws Exception {
    FakeMapOutputs outputs = new FakeMapOutputs(folder);
    UnfairLock lock = new UnfairLock();
    StateLock state = new StateLock(lock);
    int[] evictions = new int[1];
    try (FakeDomain domain = new FakeDomain();
        PinnedBudget budget = new PinnedBudget((long) WINDOWS * PAGE, PAGE);
        BlockServer server =
            new BlockServer(
                DiskServers.parameters(
                    outputs,
                    domain,
                    budget,
                    new ShuffleCounters(),
                    Duration.ofMinutes(1),
                    () -> 0,
                    DiskServers.windows(1000)),
                ServerFixture.direct(() -> 0),
                System::nanoTime,
                state)) {
      for (int map = 0; map < WINDOWS; map++) {
        outputs.write(1, map, random, true, 100);
        server.release(9, new long[] {ask(server, map).leaseId()}, () -> {});
      }
      server.doWork();
      OtherThread other =
          new OtherThread(
              server,
              domain,
              1,
              () -> {
                state.lock();
                evictions[0] = domain.deregistered().size();
                state.unlock();
              });
      budget.reportShortage(budget.limitBytes());
      while (server.doWork() > 0) {
        // Until the memory is free.
      }
      lock.end();
      other.join();
      assertThat(evictions[0]).isEqualTo(IdleMemory.MAX_REGIONS);
      assertThat(budget.availableBytes()).isEqualTo(budget.limitBytes());
    }
  }

  @Test
  void shouldEvictNoMoreForAPeerThatIsGone() throws Exception {
    try (ServerFixture on = withIdleWindows(Mode.WINDOW, 0, WINDOWS)) {
      on.outputs.write(1, LARGE, random, true, WINDOWS * PAGE);
      OtherThread other =
          new OtherThread(
              on.server,
              on.domain,
              1,
              () -> {
                on.server.onPeerGone(9);
                on.server.doWork();
              });
      assertThat(on.ask(9, Wanted.of(1, LARGE, 0, 1)).kinds()).containsExactly(Kind.BUSY);
      other.join();
      assertThat(on.domain.deregistered()).hasSize(IdleMemory.MAX_REGIONS);
    }
  }

  @Test
  void shouldRegisterOneWindowForTwoRequestsThatBothMakeRoomForIt() throws Exception {
    FakeMapOutputs outputs = new FakeMapOutputs(folder);
    List<Thread> disk = new ArrayList<>();
    try (FakeDomain domain = new FakeDomain();
        PinnedBudget budget = new PinnedBudget((long) WINDOWS * PAGE, PAGE);
        BlockServer server = server(outputs, domain, budget, disk)) {
      for (int map = 0; map < WINDOWS; map++) {
        outputs.write(1, map, random, true, 100);
        server.release(9, new long[] {ask(server, map).leaseId()}, () -> {});
      }
      outputs.write(1, LARGE, random, true, ServerFixture.WINDOW);
      Call second = new Call(LARGE);
      OtherThread other =
          new OtherThread(
              server,
              domain,
              1,
              () -> {
                server.locate(second);
                server.doWork();
              });

      Call first = ask(server, LARGE);
      other.join();
      second.answered.await();

      assertThat(first.address()).isEqualTo(second.address());
      assertThat(domain.fileCalls()).isEqualTo(WINDOWS + 1);
      for (Thread thread : disk) {
        thread.join();
      }
    }
  }

  private static BlockServer server(
      FakeMapOutputs outputs, FakeDomain domain, PinnedBudget budget, List<Thread> disk) {
    DiskQueue queue =
        new DiskQueue(
            job -> {
              Thread thread = new Thread(job, "disk");
              disk.add(thread);
              thread.start();
            },
            DiskServers.THREADS,
            () -> 0);
    return DiskServers.of(
        outputs,
        domain,
        budget,
        new ShuffleCounters(),
        Duration.ofMinutes(1),
        () -> 0,
        1000,
        List.of(queue));
  }

  private static Call ask(BlockServer server, int map) throws InterruptedException {
    Call call = new Call(map);
    server.locate(call);
    server.doWork();
    call.answered.await();
    return call;
  }

  /** Requests the first block of a map output. */
  private static final class Call extends TestLocateCall {
    private final CountDownLatch answered = new CountDownLatch(1);
    private int lengthBytes;

    Call(int map) {
      super(9, request(map), ByteBuffer.allocate(1000));
    }

    private static ByteBuffer request(int map) {
      ByteBuffer buffer = ByteBuffer.allocate(100);
      Locate.Encoder encoder = new Locate.Encoder().begin(buffer, 1);
      encoder.block(1, map, 0, 1, 0, false);
      return buffer.slice(0, encoder.finish());
    }

    private Located.Decoder piece() {
      Located.Decoder in = new Located.Decoder().begin(answer().slice(0, lengthBytes));
      assertThat(in.nextPiece()).isTrue();
      assertThat(in.kind()).isEqualTo(Kind.LOCATED);
      return in;
    }

    long leaseId() {
      return piece().leaseId();
    }

    long address() {
      return piece().address();
    }

    @Override
    public void answered(int newLengthBytes) {
      lengthBytes = newLengthBytes;
      answered.countDown();
    }

    @Override
    public void malformed(String reason) {
      throw new AssertionError(reason);
    }
  }
}
