// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.thread;

/**
 * The only thread that may use an object. {@code assert owner.holds();} in each entry point throws
 * in tests when another thread calls, and costs nothing without assertions. Without an owner any
 * thread may call. Safe for any thread.
 */
public final class OwnerThread {
  private volatile Thread thread;

  /** Makes the current thread the owner. */
  public void take() {
    thread = Thread.currentThread();
  }

  /** Ends the ownership. */
  public void leave() {
    thread = null;
  }

  /**
   * @return true
   * @throws IllegalStateException when another thread owns
   */
  public boolean holds() {
    Thread owner = thread;
    if (owner != null && owner != Thread.currentThread()) {
      throw new IllegalStateException(
          "used by a thread that is not the owner: owner="
              + owner.getName()
              + " thread="
              + Thread.currentThread().getName());
    }
    return true;
  }
}
