// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * Shortages of pinned memory, reported for each refused grant, thus thousands of times a second.
 * The server's thread has at most one command for all of them, which makes room for the largest.
 * Safe for any thread.
 */
final class ShortageCommand implements LongConsumer {
  private final Consumer<Runnable> submit;
  private final LongConsumer makeRoom;
  private final Runnable command = this::run;

  /** Largest number of bytes that was refused since the command began; 0 if none is submitted. */
  private final AtomicLong neededBytes = new AtomicLong();

  /**
   * @param submit passes a command to the server's thread
   * @param makeRoom gets the number of bytes, on that thread
   */
  ShortageCommand(Consumer<Runnable> submit, LongConsumer makeRoom) {
    this.submit = submit;
    this.makeRoom = makeRoom;
  }

  @Override
  public void accept(long lengthBytes) {
    if (neededBytes.getAndAccumulate(lengthBytes, Math::max) == 0) {
      try {
        submit.accept(command);
      } catch (Throwable e) {
        neededBytes.set(0);
        throw e;
      }
    }
  }

  private void run() {
    makeRoom.accept(neededBytes.getAndSet(0));
  }
}
