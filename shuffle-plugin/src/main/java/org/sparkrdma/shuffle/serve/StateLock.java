// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Lock of the server's state: windows, slots, leases and indexes. The server's thread, the disk
 * threads and the agent hold it for single steps, and never while they wait for a disk. The agent
 * waits for it only when the system refuses a disk thread. The longest step deregisters a few idle
 * windows, see {@link IdleMemory}; a call of the device may hang in it.
 */
final class StateLock {
  /** Work that may wait for a disk. */
  interface Blocking<T, E extends Exception> {
    T run() throws E;
  }

  /** A lock with a holder that others can see. */
  private static final class HeldLock extends ReentrantLock {
    private static final long serialVersionUID = 1;

    Thread holder() {
      return getOwner();
    }
  }

  private final HeldLock lock = new HeldLock();
  private final Condition registrationEnded = lock.newCondition();

  void lock() {
    lock.lock();
  }

  /** Takes the lock if no other thread has it; never waits. */
  boolean tryLock() {
    return lock.tryLock();
  }

  void unlock() {
    lock.unlock();
  }

  /** The thread that has the lock now, for logs; null when none has it. Takes no lock. */
  Thread holder() {
    return lock.holder();
  }

  /**
   * For assertions at the entries of the state's classes.
   *
   * @return true
   * @throws IllegalStateException when the current thread does not hold the lock
   */
  boolean isHeld() {
    if (!lock.isHeldByCurrentThread()) {
      throw new IllegalStateException(
          "server state used without its lock: thread=" + Thread.currentThread().getName());
    }
    return true;
  }

  /** Runs work without the lock and takes it again; the state may have changed meanwhile. */
  <T, E extends Exception> T unlocked(Blocking<T, E> work) throws E {
    assert lock.getHoldCount() == 1;
    lock.unlock();
    try {
      return work.run();
    } finally {
      lock.lock();
    }
  }

  /** Waits, without the lock, while another thread registers a window. */
  void awaitRegistration(BooleanSupplier isRegistering) {
    while (isRegistering.getAsBoolean()) {
      registrationEnded.awaitUninterruptibly();
    }
  }

  void signalRegistrationEnded() {
    registrationEnded.signalAll();
  }
}
