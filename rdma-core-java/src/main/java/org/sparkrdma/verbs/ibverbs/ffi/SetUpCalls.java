// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import com.kenai.jffi.CallContext;
import com.kenai.jffi.HeapInvocationBuffer;
import com.kenai.jffi.Invoker;
import com.kenai.jffi.LastError;

/**
 * Calls C functions by their address for set-up: these calls keep errno, see {@link #errno()}. By
 * jffi, as {@link Native}. Every argument goes as a {@code long}, which the calling conventions of
 * 64-bit Linux allow. Safe for any thread.
 */
public final class SetUpCalls {
  static final int MAX_ARGUMENTS = 7;

  private static final Invoker INVOKER = Invoker.getInstance();
  private static final LastError ERRNO = LastError.getInstance();

  /** Contexts by the number of arguments. */
  private static final CallContext[] KEEPING = contexts();

  private SetUpCalls() {}

  private static CallContext[] contexts() {
    CallContext[] contexts = new CallContext[MAX_ARGUMENTS + 1];
    for (int i = 0; i < contexts.length; i++) {
      contexts[i] = Native.context(i, true);
    }
    return contexts;
  }

  /** The errno of this thread's last call that keeps it. */
  public static int errno() {
    return ERRNO.get();
  }

  /**
   * Calls a function that returns a long or a pointer, or nothing.
   *
   * @return the result register; a function that returns an int sets its lower half only
   */
  static long call(long function, long... a) {
    CallContext context = KEEPING[a.length];
    return switch (a.length) {
      case 0 -> INVOKER.invokeL0(context, function);
      case 1 -> INVOKER.invokeL1(context, function, a[0]);
      case 2 -> INVOKER.invokeL2(context, function, a[0], a[1]);
      case 3 -> INVOKER.invokeL3(context, function, a[0], a[1], a[2]);
      case 4 -> INVOKER.invokeL4(context, function, a[0], a[1], a[2], a[3]);
      case 5 -> INVOKER.invokeL5(context, function, a[0], a[1], a[2], a[3], a[4]);
      case 6 -> INVOKER.invokeL6(context, function, a[0], a[1], a[2], a[3], a[4], a[5]);
      default -> callBuffered(context, function, a);
    };
  }

  private static long callBuffered(CallContext context, long function, long... arguments) {
    HeapInvocationBuffer buffer = new HeapInvocationBuffer(context);
    for (long argument : arguments) {
      buffer.putLong(argument);
    }
    return INVOKER.invokeLong(context, function, buffer);
  }

  /** Calls a function that returns an int. */
  static int callInt(long function, long... arguments) {
    return (int) call(function, arguments);
  }
}
