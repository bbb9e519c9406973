// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Lock of the server's state: windows, slots, leases and indexes. The server's thread, the disk
 * threads and the agent hold it for single steps, and never while they wait for a disk. The agent
 * waits for it only when the system refuses a disk thread. The longest step deregisters a few idle
 * windows, see {@link IdleMemory}; a call of the device may hang in it.
 *
 * <p>A thread that releases the lock and takes it again is faster than one that must wake up for
 * it. So work of many long steps calls {@link #letOthersIn} between them.
 */
final class StateLock {
  /** Work that may wait for a disk. */
  interface Blocking<T, E extends Exception> {
    T run() throws E;
  }

  /** A lock with a holder that others can see. */
  static class HeldLock extends ReentrantLock {
    private static final long serialVersionUID = 1;

    final Thread holder() {
      return getOwner();
    }
  }

  /** Pause after an Error. */
  private static final long PAUSE_NS = 1_000_000;

  private final HeldLock lock;
  private final Condition registrationEnded;

  /** Another thread has had the lock; awaited by those that let others in. */
  private final Condition released;

  /** Number of threads that let others in now; used with the lock. */
  private int yielding;

  /** Number of times that a thread has released the lock while others let it in. */
  private long releases;

  StateLock() {
    this(new HeldLock());
  }

  /**
   * @param lock another one in tests
   */
  StateLock(HeldLock lock) {
    this.lock = lock;
    registrationEnded = lock.newCondition();
    released = lock.newCondition();
  }

  /** Never throws: a thread that has taken a command or a request waits for the lock with it. */
  void lock() {
    while (!tryAwait()) {
      LockSupport.parkNanos(this, PAUSE_NS);
    }
  }

  /** False after an Error without the lock: on Java 17 a wait for it needs memory. */
  private boolean tryAwait() {
    try {
      lock.lock();
      return true;
    } catch (Error e) {
      return lock.tryLock();
    }
  }

  /** Takes the lock if no other thread has it; never waits. */
  boolean tryLock() {
    return lock.tryLock();
  }

  void unlock() {
    signalYielding();
    lock.unlock();
  }

  private void signalYielding() {
    if (yielding > 0) {
      releases++;
      released.signalAll();
    }
  }

  /**
   * Lets each thread that waits for the lock now have it for a step; returns at once when none
   * waits. The state may have changed meanwhile.
   */
  void letOthersIn() {
    assert lock.getHoldCount() == 1;
    signalYielding();
    if (!lock.hasQueuedThreads()) {
      return;
    }
    long before = releases;
    yielding++;
    try {
      while (releases == before) {
        // The next thread that releases the lock puts this one behind all that wait for it then.
        released.awaitUninterruptibly();
      }
    } finally {
      yielding--;
    }
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
    unlock();
    try {
      return work.run();
    } finally {
      lock();
    }
  }

  /** Waits, without the lock, while another thread registers a window. */
  void awaitRegistration(BooleanSupplier isRegistering) {
    while (isRegistering.getAsBoolean()) {
      signalYielding();
      registrationEnded.awaitUninterruptibly();
    }
  }

  void signalRegistrationEnded() {
    registrationEnded.signalAll();
  }
}
