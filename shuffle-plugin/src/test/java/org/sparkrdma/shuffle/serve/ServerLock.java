// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.lang.reflect.Field;
import java.util.concurrent.CountDownLatch;

/** The lock of a block server, for tests. */
final class ServerLock {
  private ServerLock() {}

  static StateLock of(BlockServer server) throws ReflectiveOperationException {
    Field field = BlockServer.class.getDeclaredField("state");
    field.setAccessible(true);
    return (StateLock) field.get(server);
  }

  /** Waits until a thread waits for the lock. */
  static void awaitQueued(BlockServer server, Thread thread) throws ReflectiveOperationException {
    Field field = StateLock.class.getDeclaredField("lock");
    field.setAccessible(true);
    StateLock.HeldLock lock = (StateLock.HeldLock) field.get(of(server));
    while (!lock.hasQueuedThread(thread)) {
      Thread.onSpinWait();
    }
  }

  /** Runs an action while another thread has the lock, and returns when that thread has ended. */
  static void whileAnotherThreadHasIt(BlockServer server, Runnable action) throws Exception {
    StateLock state = of(server);
    CountDownLatch locked = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    Thread other =
        new Thread(
            () -> {
              state.lock();
              locked.countDown();
              try {
                mayEnd.await();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              } finally {
                state.unlock();
              }
            });
    other.start();
    locked.await();
    try {
      action.run();
    } finally {
      mayEnd.countDown();
      other.join();
    }
  }
}
