// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;

/**
 * Shortages of pinned memory, reported for each refused grant, thus thousands of times a second.
 * The server's thread has at most one command for all of them, which makes room for the largest. A
 * command makes a part of the room; the next one follows after other commands and LOCATEs, also
 * where an Error has ended it. Safe for any thread.
 */
final class ShortageCommand implements LongConsumer {
  /** Number of Errors in a row after which a command is not repeated. */
  static final int MAX_FAILURES = 8;

  private final Consumer<Runnable> submit;
  private final LongPredicate makeRoom;
  private final Runnable command = this::run;

  /** Largest number of bytes that was refused since the command began; 0 if none is submitted. */
  private final AtomicLong neededBytes = new AtomicLong();

  /** Number of bytes for which the last command has made a part of the room; 0 for none. */
  private final AtomicLong unfinishedBytes = new AtomicLong();

  /** Number of Errors in a row; confined to the server's thread. */
  private int failures;

  /**
   * @param submit passes a command to the server's thread
   * @param makeRoom gets the number of bytes, on that thread; returns whether it must be called
   *     again for them
   */
  ShortageCommand(Consumer<Runnable> submit, LongPredicate makeRoom) {
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

  /** After an Error the rest of the room is made later. Allocates nothing. */
  private void run() {
    long lengthBytes = neededBytes.getAndSet(0);
    boolean ended = false;
    boolean again = false;
    try {
      again = makeRoom.test(lengthBytes);
      ended = true;
    } finally {
      failures = ended ? 0 : failures + 1;
      if (again || mayRepeat()) {
        unfinishedBytes.set(lengthBytes);
      }
    }
  }

  /** Errors that last must not keep the server's thread busy; the next shortage begins anew. */
  private boolean mayRepeat() {
    return failures > 0 && failures % MAX_FAILURES != 0;
  }

  /** Submits the command again if the last one has made only a part of the room. */
  void continueLater() {
    long lengthBytes = unfinishedBytes.getAndSet(0);
    if (lengthBytes > 0) {
      accept(lengthBytes);
    }
  }
}
