// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.thread;

/**
 * The system refuses another thread: a limit of processes is reached (of the user, of the control
 * group), or there is no memory for its stack. Threads that end elsewhere may change that.
 */
public final class ThreadShortageException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private ThreadShortageException(String name, Throwable cause) {
    super("cannot start the thread " + name + ": " + cause, cause);
  }

  /**
   * The exception for a thread that the system refuses.
   *
   * @throws OutOfMemoryError the same, when it is one of the heap
   */
  public static ThreadShortageException of(String name, OutOfMemoryError refusal) {
    if (HeapShortage.isFatal(refusal)) {
      throw refusal;
    }
    return new ThreadShortageException(name, refusal);
  }

  /**
   * Starts a thread.
   *
   * @throws ThreadShortageException when the system refuses it; its name is in the message
   */
  public static void start(Thread thread) {
    try {
      thread.start();
    } catch (OutOfMemoryError e) {
      throw of(thread.getName(), e);
    }
  }
}
