// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

/** Waits for the end of an engine's thread, whatever interrupts the caller. */
public final class UninterruptedJoin {
  private UninterruptedJoin() {}

  /** Returns when the thread has ended, or was not started; keeps an interrupt of the caller. */
  public static void await(Thread thread) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
