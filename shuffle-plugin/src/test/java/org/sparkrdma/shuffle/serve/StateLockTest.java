// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class StateLockTest {
  /** There is no memory for its queue, as in Java 17. */
  private final FailingLock lock = new FailingLock();

  private final StateLock state = new StateLock(lock);

  @Test
  void shouldTakeTheLockThoughAnErrorEndsTheWaitForIt() throws Exception {
    state.lock();
    CompletableFuture<Boolean> held =
        CompletableFuture.supplyAsync(
            () -> {
              state.lock();
              try {
                return state.isHeld();
              } finally {
                state.unlock();
              }
            });
    lock.thrown.await();
    assertThat(held).isNotDone();

    state.unlock();

    assertThat(held.get()).isTrue();
  }

  @Test
  void shouldHaveTheLockAfterWorkWithoutItThoughAnErrorEndsTheWaitForIt() throws Exception {
    CountDownLatch takes = new CountDownLatch(1);
    CountDownLatch taken = new CountDownLatch(1);
    CompletableFuture<Void> other =
        CompletableFuture.runAsync(
            () -> {
              try {
                takes.await();
                state.lock();
                taken.countDown();
                lock.thrown.await();
                state.unlock();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    state.lock();

    String result =
        state.unlocked(
            () -> {
              takes.countDown();
              taken.await();
              return "done";
            });

    assertThat(result).isEqualTo("done");
    assertThat(state.isHeld()).isTrue();
    state.unlock();
    other.get();
  }

  private static Thread startAndAwaitQueued(StateLock.HeldLock queue, Runnable work) {
    Thread thread = new Thread(work);
    thread.start();
    while (!queue.hasQueuedThread(thread)) {
      Thread.onSpinWait();
    }
    return thread;
  }

  @Test
  void shouldLetAllThreadsInThatWaitForTheLock() throws Exception {
    StateLock.HeldLock queue = new StateLock.HeldLock();
    StateLock shared = new StateLock(queue);
    List<String> order = new ArrayList<>();
    List<Thread> others = new ArrayList<>();
    shared.lock();
    for (String name : List.of("first", "second")) {
      others.add(
          startAndAwaitQueued(
              queue,
              () -> {
                shared.lock();
                order.add(name);
                shared.unlock();
              }));
    }
    shared.letOthersIn();
    order.add("last");
    shared.letOthersIn();
    shared.unlock();
    for (Thread other : others) {
      other.join();
    }
    assertThat(order).containsExactly("first", "second", "last");
  }

  @Test
  void shouldLetTwoThreadsInByTurnsThatLetEachOtherIn() throws Exception {
    StateLock.HeldLock queue = new StateLock.HeldLock();
    StateLock shared = new StateLock(queue);
    List<Integer> order = new ArrayList<>();
    shared.lock();
    Thread other =
        startAndAwaitQueued(
            queue,
            () -> {
              shared.lock();
              order.add(2);
              shared.letOthersIn();
              order.add(4);
              shared.unlock();
            });
    order.add(1);
    shared.letOthersIn();
    order.add(3);
    shared.letOthersIn();
    order.add(5);
    shared.unlock();
    other.join();
    assertThat(order).containsExactly(1, 2, 3, 4, 5);
  }

  @Test
  void shouldGoOnAfterAThreadThatReleasesTheLockForWorkWithoutIt() throws Exception {
    StateLock.HeldLock queue = new StateLock.HeldLock();
    StateLock shared = new StateLock(queue);
    CountDownLatch ended = new CountDownLatch(1);
    shared.lock();
    Thread other =
        startAndAwaitQueued(
            queue,
            () -> {
              shared.lock();
              try {
                shared.unlocked(() -> ended.await(60, TimeUnit.SECONDS));
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              } finally {
                shared.unlock();
              }
            });
    shared.letOthersIn();
    assertThat(other.isAlive()).isTrue();
    ended.countDown();
    shared.unlock();
    other.join();
  }

  @Test
  void shouldGoOnAfterAThreadThatWaitsForARegistration() throws Exception {
    StateLock.HeldLock queue = new StateLock.HeldLock();
    StateLock shared = new StateLock(queue);
    boolean[] registering = {true};
    shared.lock();
    Thread other =
        startAndAwaitQueued(
            queue,
            () -> {
              shared.lock();
              shared.awaitRegistration(() -> registering[0]);
              shared.unlock();
            });
    shared.letOthersIn();
    registering[0] = false;
    shared.signalRegistrationEnded();
    shared.unlock();
    other.join();
  }

  /** Throws when another thread has it, for the first time. */
  private static final class FailingLock extends StateLock.HeldLock {
    private static final long serialVersionUID = 1;

    private final transient CountDownLatch thrown = new CountDownLatch(1);

    @Override
    public void lock() {
      if (isLocked() && !isHeldByCurrentThread() && thrown.getCount() == 1) {
        thrown.countDown();
        throw new OutOfMemoryError("thrown by the test");
      }
      super.lock();
    }
  }
}
