// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

/**
 * Calls C functions by their address.
 *
 * <p>{@link #call} and {@link #callInt} are for set-up: they keep errno, see {@link #errno()}. The
 * other calls are made for each operation and each wait. They allocate nothing and keep no errno.
 *
 * <p>Only {@link #pollCq} may delay a garbage collection until it returns, see {@link
 * ForeignBinding#callCritical}. It reads memory that the device writes, takes at most one batch of
 * completions, and neither sleeps nor calls back. A post is not critical: with soft devices it is a
 * system call that does the device's work.
 */
public final class Downcalls {
  private static final ForeignBinding CALLS = Binding.calls();

  private Downcalls() {}

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
}
