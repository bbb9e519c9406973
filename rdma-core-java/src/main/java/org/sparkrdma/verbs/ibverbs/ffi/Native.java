// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import org.sparkrdma.verbs.spi.EngineUnavailableException;

/**
 * Calls C functions by their address, and reads and writes memory by its address, unchecked, as C
 * does; through the binding of this JVM, which is loaded once.
 *
 * <p>{@link #call} and {@link #callInt} are for set-up: they keep errno, see {@link #errno()}. The
 * other calls are made for each operation and each wait. They allocate nothing and keep no errno.
 *
 * <p>Only {@link #pollCq} may delay a garbage collection until it returns, see {@link
 * ForeignBinding#callCritical}. It reads memory that the device writes, takes at most one batch of
 * completions, and neither sleeps nor calls back. A post is not critical: with soft devices it is a
 * system call that does the device's work.
 */
public final class Native {
  /** Static and final, so that the JIT compiler sees one implementation. */
  private static final ForeignBinding CALLS;

  private static final EngineUnavailableException FAILURE;

  static {
    ForeignBinding loaded = null;
    EngineUnavailableException failure = null;
    try {
      loaded = Bindings.load();
    } catch (EngineUnavailableException e) {
      failure = e;
    }
    CALLS = loaded;
    FAILURE = failure;
  }

  private Native() {}

  /**
   * Called before all other methods and classes of this package.
   *
   * @throws EngineUnavailableException when this JVM has no binding, with the reason in one
   *     sentence
   */
  public static void check() throws EngineUnavailableException {
    if (FAILURE != null) {
      throw new EngineUnavailableException(FAILURE.getMessage(), FAILURE);
    }
  }

  /** Name of the binding, for logs and tests. */
  public static String bindingName() {
    return CALLS.name();
  }

  static ForeignBinding binding() {
    return CALLS;
  }

  // Calls.

  /** The errno of this thread's last call that keeps it. */
  public static int errno() {
    return CALLS.errno();
  }

  /** Calls a function that returns a long or a pointer, or nothing. */
  static long call(long function, long... arguments) {
    return CALLS.call(function, arguments);
  }

  /** Calls a function that returns an int. */
  static int callInt(long function, long... arguments) {
    return (int) CALLS.call(function, arguments);
  }

  /** See ibv_poll_cq(3); {@code function} is the device's. */
  public static int pollCq(long function, long cq, int count, long completions) {
    return CALLS.callCritical(function, cq, count, completions);
  }

  /** See ibv_post_send(3) and ibv_post_recv(3); {@code function} is the device's. */
  public static int post(long function, long qp, long requests, long bad) {
    return CALLS.callThree(function, qp, requests, bad);
  }

  /** See ibv_req_notify_cq(3); {@code function} is the device's. */
  public static int requestNotify(long function, long cq) {
    return CALLS.callThree(function, cq, 0, 0);
  }

  /** Calls any function of up to three arguments; returns the lower half of its result. */
  static int callThree(long function, long a, long b, long c) {
    return CALLS.callThree(function, a, b, c);
  }

  /** See ppoll(2), without a signal mask. */
  static int ppoll(long function, long pollfds, long count, long timespec) {
    return CALLS.callFive(function, pollfds, count, timespec, 0, Long.BYTES);
  }

  // Memory.

  /** See {@link ForeignBinding#inRange}. */
  public static long inRange(long address) {
    return CALLS.inRange(address);
  }

  public static long getLong(long address) {
    return CALLS.getLong(address);
  }

  public static int getInt(long address) {
    return CALLS.getInt(address);
  }

  public static int getShort(long address) {
    return CALLS.getShort(address) & 0xffff;
  }

  public static int getByte(long address) {
    return CALLS.getByte(address) & 0xff;
  }

  public static void putLong(long address, long value) {
    CALLS.putLong(address, value);
  }

  public static void putInt(long address, int value) {
    CALLS.putInt(address, value);
  }

  public static void putShort(long address, int value) {
    CALLS.putShort(address, (short) value);
  }

  public static void putByte(long address, int value) {
    CALLS.putByte(address, (byte) value);
  }

  /** A copy of the bytes there. */
  public static byte[] bytes(long address, int length) {
    return CALLS.bytes(address, length);
  }

  /** The string there, up to its zero byte; empty for a null pointer. */
  public static String string(long address) {
    return address == 0 ? "" : CALLS.string(address);
  }

  static void fill(long address, long lengthBytes, byte value) {
    CALLS.fill(address, lengthBytes, value);
  }
}
