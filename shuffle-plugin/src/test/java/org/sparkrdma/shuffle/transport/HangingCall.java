// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.concurrent.CountDownLatch;
import java.util.function.BiConsumer;

/** Holds one call of a thread of the serving side until the test ends it. */
final class HangingCall implements BiConsumer<Object, String> {
  private final Class<?> type;
  private final String name;
  private final String thread;
  private final CountDownLatch hangs = new CountDownLatch(1);
  private final CountDownLatch end = new CountDownLatch(1);
  private volatile boolean armed;

  HangingCall(Class<?> type, String name, String thread) {
    this.type = type;
    this.name = name;
    this.thread = thread;
  }

  @Override
  public void accept(Object object, String method) {
    if (armed
        && type.isInstance(object)
        && method.equals(name)
        && Thread.currentThread().getName().startsWith(thread)) {
      hangs.countDown();
      awaitEnd();
    }
  }

  private void awaitEnd() {
    boolean ended = false;
    while (!ended) {
      try {
        end.await();
        ended = true;
      } catch (InterruptedException e) {
        // A call of the device ignores it, too.
        ended = end.getCount() == 0;
      }
    }
  }

  void arm() {
    armed = true;
  }

  void awaitHang() throws InterruptedException {
    hangs.await();
  }

  void end() {
    end.countDown();
  }
}
