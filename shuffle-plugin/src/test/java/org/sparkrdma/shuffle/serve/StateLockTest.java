// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A lock for whose queue there is no memory, as in Java 17. */
@Timeout(60)
class StateLockTest {
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
