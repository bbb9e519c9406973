// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.ServeSettings.Mode;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.verbs.device.Capability;

/** The server with its thread and the real clock. */
@Timeout(60)
class BlockServerThreadTest {
  private static final int PEERS = 8;
  private static final int ROUNDS = 2_000;
  private static final Duration SHORT_LEASE = Duration.ofMillis(20);

  @TempDir Path folder;
  private final FakeDomain domain = new FakeDomain();
  private final PinnedBudget budget = new PinnedBudget(1 << 20, FakeDomain.PAGE);
  private final ShuffleCounters counters = new ShuffleCounters();
  private final CompletableFuture<Long> expired = new CompletableFuture<>();
  private FakeMapOutputs outputs;

  /** The time of the server's clock while it stands; empty while it runs. */
  private volatile OptionalLong stoppedNs = OptionalLong.empty();

  private long nanoTime() {
    OptionalLong stopped = stoppedNs;
    return stopped.isPresent() ? stopped.getAsLong() : System.nanoTime();
  }

  @BeforeEach
  void write() throws IOException {
    outputs = new FakeMapOutputs(folder);
    outputs.write(1, 0, new Random(5), true, 1000, 2000);
  }

  @AfterEach
  void closeAndCheckForLeaks() {
    domain.close();
    budget.close();
  }

  private BlockServer server(Duration lease) {
    return new BlockServer(
        new ServerParameters(
            new ServeSettings(
                Mode.AUTO,
                ServerFixture.WINDOW,
                ServerFixture.SLOT,
                4,
                lease,
                10,
                1000,
                100,
                ServerFixture.IDLE,
                false,
                false),
            outputs,
            new FakeDevice(100, EnumSet.of(Capability.FILE_REGIONS)),
            domain,
            budget,
            counters,
            expired::complete,
            Duration.ofSeconds(30),
            this::nanoTime));
  }

  @Test
  void shouldAnswerManyPeersAtOnce() throws Exception {
    List<Thread> threads = new ArrayList<>();
    AtomicInteger located = new AtomicInteger();
    try (BlockServer server = server(Duration.ofMinutes(1))) {
      server.start();
      for (long peer = 0; peer < PEERS; peer++) {
        long id = peer;
        threads.add(new Thread(() -> askOftenThenLeave(server, id, located)));
      }
      threads.forEach(Thread::start);
      for (Thread thread : threads) {
        thread.join();
      }
    }
    assertThat(located).hasValue(PEERS * ROUNDS);
    assertThat(counters.value(Counter.LOCATES_SERVED)).isEqualTo(PEERS * ROUNDS);
    assertThat(counters.value(Counter.PROTOCOL_ERRORS)).isZero();
  }

  /** Every second peer answers its requests itself when it can, and every fourth its releases. */
  private static void askOftenThenLeave(BlockServer server, long peer, AtomicInteger located) {
    for (int i = 0; i < ROUNDS; i++) {
      FutureCall call = call(peer, 0);
      if (peer % 2 == 0) {
        server.locate(call);
      } else {
        server.locateSoon(call, System.nanoTime());
      }
      Located.Decoder answer = call.future().join();
      if (answer.nextPiece() && answer.kind() == Located.Kind.LOCATED) {
        located.incrementAndGet();
      }
      if (i % 2 == 0 && peer % 4 == 0) {
        server.releaseSoon(peer, new long[] {answer.leaseId()}, () -> {});
      } else if (i % 2 == 0) {
        server.release(peer, new long[] {answer.leaseId()}, () -> {});
      }
    }
    server.onPeerGone(peer);
  }

  private static CompletableFuture<Located.Decoder> ask(BlockServer server, long peer) {
    return ask(server, peer, 0);
  }

  private static CompletableFuture<Located.Decoder> ask(BlockServer server, long peer, long map) {
    FutureCall call = call(peer, map);
    server.locate(call);
    return call.future();
  }

  private static FutureCall call(long peer, long map) {
    ByteBuffer request = ByteBuffer.allocate(100);
    Locate.Encoder encoder = new Locate.Encoder().begin(request, peer);
    encoder.block(1, map, 0, 1, 0, false);
    int length = encoder.finish();
    return new FutureCall(peer, request.slice(0, length), ByteBuffer.allocate(200));
  }

  /** The thread sleeps for an hour when it has no deadline. */
  @Test
  void shouldTakeATurnWhenOneIsRequested() {
    try (BlockServer server = server(Duration.ofMinutes(10))) {
      server.start();
      for (int turn = 0; turn < 100; turn++) {
        long before = server.requestTurn();
        while (server.requestTurn() == before) {
          Thread.onSpinWait();
        }
      }
    }
  }

  @Test
  void shouldWakeForEachRequestWhileOthersUseItsLock() throws Exception {
    try (BlockServer server = server(Duration.ofMinutes(10))) {
      server.start();
      StateLock state = part(server, "state", StateLock.class);
      AtomicBoolean over = new AtomicBoolean();
      Thread other =
          new Thread(
              () -> {
                while (!over.get()) {
                  state.lock();
                  Thread.onSpinWait();
                  state.unlock();
                }
              });
      other.start();
      try {
        for (int i = 0; i < 20_000; i++) {
          CompletableFuture<Void> released = new CompletableFuture<>();
          server.release(1, new long[0], () -> released.complete(null));
          released.get(30, TimeUnit.SECONDS);
        }
      } finally {
        over.set(true);
        other.join();
      }
    }
  }

  @Test
  void shouldThrowWhenAnotherThreadUsesTheServersState() throws Exception {
    try (BlockServer server = server(Duration.ofMinutes(1))) {
      server.start();
      ask(server, 9).join();
      ServingParts parts = part(server, "parts", ServingParts.class);
      Leases leases = parts.leases();
      UnleasedWindows unleased = part(parts.idle(), "windows", UnleasedWindows.class);
      CopySlots slots = parts.slots();
      assertClosed(() -> leases.expire(0));
      assertClosed(() -> leases.onPeerGone(9));
      assertClosed(() -> unleased.makeRoom(1, 1));
      assertClosed(() -> slots.trim(1));
    }
  }

  /**
   * Its window is of a shuffle that is unregistered, so the server's thread has to deregister it.
   */
  @Test
  void shouldWakeUpForAWindowWhoseLastLeaseAnotherThreadReleases() throws Exception {
    try (BlockServer server = server(Duration.ofMinutes(1))) {
      server.start();
      long lease = ask(server, 9).join().leaseId();
      CountDownLatch gone = new CountDownLatch(1);
      server.unregisterShuffle(1, gone::countDown);
      awaitSleep(server);
      CountDownLatch released = new CountDownLatch(1);
      server.releaseSoon(9, new long[] {lease}, released::countDown);
      assertThat(released.await(30, TimeUnit.SECONDS)).isTrue();
      assertThat(gone.await(30, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void shouldWakeUpForAReleaseThatAnErrorHasEndedOnAnotherThread() throws Exception {
    try (BlockServer server = server(Duration.ofMinutes(1))) {
      server.start();
      ask(server, 9).join();
      boolean triedHere = false;
      while (!triedHere) {
        // It may wake up for a deadline and take the command.
        awaitSleep(server);
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        CountDownLatch tries = new CountDownLatch(3);
        server.releaseSoon(
            9,
            new long[0],
            () -> {
              threads.add(Thread.currentThread());
              tries.countDown();
              if (tries.getCount() > 0) {
                throw new OutOfMemoryError("thrown by the test");
              }
            });
        assertThat(tries.await(30, TimeUnit.SECONDS)).isTrue();
        triedHere = threads.contains(Thread.currentThread());
      }
    }
  }

  /** Waits until the server's thread has nothing to do before a deadline. */
  private static void awaitSleep(BlockServer server) throws Exception {
    Thread thread = part(part(server, "thread", ServerThread.class), "thread", Thread.class);
    while (server.hasWork() || thread.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
  }

  private static <T> T part(Object whole, String name, Class<T> type) throws Exception {
    Field field = whole.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return type.cast(field.get(whole));
  }

  private static void assertClosed(ThrowingCallable touch) {
    assertThatThrownBy(touch)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("used without its lock");
  }

  @Test
  void shouldWakeUpForAnExpiringLease() throws Exception {
    try (BlockServer server = server(SHORT_LEASE)) {
      server.start();
      ask(server, 9).join();
      assertThat(expired.get(30, TimeUnit.SECONDS)).isEqualTo(9);
      CountDownLatch forgotten = new CountDownLatch(1);
      server.unregisterShuffle(1, forgotten::countDown);
      ask(server, 8).join();
      assertThat(forgotten.getCount()).isEqualTo(1);
      server.onPeerGone(9);
      assertThat(forgotten.await(30, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void shouldWakeUpForALeaseThatAnotherThreadGrants() throws Exception {
    // The first lease does not expire before it is released, however busy this machine is.
    stoppedNs = OptionalLong.of(System.nanoTime());
    try (BlockServer server = server(SHORT_LEASE)) {
      server.start();
      CompletableFuture<Void> released = new CompletableFuture<>();
      long lease = ask(server, 9).join().leaseId();
      server.release(9, new long[] {lease}, () -> released.complete(null));
      released.get(30, TimeUnit.SECONDS);
      Thread thread = part(part(server, "thread", ServerThread.class), "thread", Thread.class);
      while (thread.getState() != Thread.State.TIMED_WAITING) {
        Thread.onSpinWait();
      }
      stoppedNs = OptionalLong.empty();
      FutureCall call = call(8, 0);
      server.locateSoon(call, System.nanoTime());
      assertThat(call.future()).as("answered by this thread").isDone();
      assertThat(expired.get(30, TimeUnit.SECONDS)).isEqualTo(8);
    }
  }

  @Test
  void shouldDeregisterAllWindowsOfAShuffleInSeveralTurns() throws Exception {
    int maps = 3 * IdleMemory.MAX_REGIONS;
    for (int map = 1; map < maps; map++) {
      outputs.write(1, map, new Random(5), true, 1000);
    }
    try (BlockServer server = server(Duration.ofMinutes(1))) {
      server.start();
      for (int map = 0; map < maps; map++) {
        ask(server, 9, map).join();
      }
      server.onPeerGone(9);
      CountDownLatch deregistered = new CountDownLatch(1);
      server.unregisterShuffle(1, deregistered::countDown);
      assertThat(deregistered.await(30, TimeUnit.SECONDS)).isTrue();
      assertThat(domain.regionCount()).isZero();
    }
  }

  @Test
  void shouldEndEveryCallThatRacesWithClose() throws Exception {
    for (int round = 0; round < 200; round++) {
      BlockServer server = server(Duration.ofMinutes(1));
      server.start();
      CountDownLatch begun = new CountDownLatch(1);
      List<CompletableFuture<Located.Decoder>> calls = new ArrayList<>();
      Thread asker =
          new Thread(
              () -> {
                for (int i = 0; i < 50; i++) {
                  calls.add(ask(server, 9));
                  begun.countDown();
                }
              });
      asker.start();
      begun.await();
      server.close();
      asker.join();
      assertThat(calls).hasSize(50);
      for (CompletableFuture<Located.Decoder> call : calls) {
        assertThat(call.get(30, TimeUnit.SECONDS).nextPiece()).isTrue();
      }
      assertThat(budget.pinnedBytes()).isZero();
    }
  }

  @Test
  void shouldCloseWithoutEverHavingStarted() {
    server(Duration.ofMinutes(1)).close();
  }

  @Test
  void shouldWaitForItsThreadAlthoughTheCloserIsInterrupted() throws Exception {
    BlockServer server = server(Duration.ofMinutes(1));
    server.start();
    CountDownLatch mayEnd = new CountDownLatch(1);
    AtomicBoolean ended = new AtomicBoolean();
    AtomicBoolean endedBeforeClosed = new AtomicBoolean();
    AtomicBoolean interruptKept = new AtomicBoolean();
    server.release(1, new long[0], () -> endAfter(mayEnd, ended));
    Thread closer =
        new Thread(
            () -> {
              Thread.currentThread().interrupt();
              server.close();
              endedBeforeClosed.set(ended.get());
              interruptKept.set(Thread.currentThread().isInterrupted());
            });
    closer.start();
    while (closer.isAlive() && closer.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    mayEnd.countDown();
    closer.join();
    assertThat(endedBeforeClosed).isTrue();
    assertThat(interruptKept).isTrue();
  }

  private static void endAfter(CountDownLatch mayEnd, AtomicBoolean ended) {
    try {
      mayEnd.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    ended.set(true);
  }

  @Test
  void shouldStayAliveWhenACallbackThrows() {
    try (BlockServer server = server(Duration.ofMinutes(1))) {
      server.start();
      server.unregisterShuffle(
          7,
          () -> {
            throw new IllegalStateException("thrown by the test");
          });
      assertThat(ask(server, 9).join().nextPiece()).isTrue();
    }
  }

  @Test
  void shouldAnswerEveryCallWhenItsThreadDies() throws Exception {
    BlockServer server = server(Duration.ofMinutes(1));
    server.start();
    ask(server, 9).join();
    server.unregisterShuffle(
        7,
        () -> {
          throw new OutOfMemoryError("thrown by the test");
        });
    assertThat(ask(server, 8).get(30, TimeUnit.SECONDS).nextPiece()).isTrue();
    server.close();
    Located.Decoder answer = ask(server, 8).get(30, TimeUnit.SECONDS);
    assertThat(answer.nextPiece()).isTrue();
    assertThat(answer.kind()).isEqualTo(Located.Kind.BUSY);
    assertThat(budget.pinnedBytes()).isZero();
  }

  @Test
  void shouldRefuseAnAnswerBufferThatIsTooSmall() {
    try (BlockServer server = server(Duration.ofMinutes(1))) {
      ByteBuffer tooSmall = ByteBuffer.allocate(BlockServer.MIN_ANSWER_BYTES - 1);
      assertThatThrownBy(() -> server.locate(new FutureCall(1, tooSmall, tooSmall)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("lengthBytes=79");
    }
  }
}
