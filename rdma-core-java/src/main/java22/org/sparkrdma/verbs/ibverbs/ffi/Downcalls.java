/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.verbs.ibverbs.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/**
 * Calls C functions by their address. Every integer and pointer argument goes as a {@code long},
 * which the calling conventions of 64-bit Linux allow; what differs is the number of arguments and
 * whether an int or a pointer comes back.
 *
 * <p>The calls by number of arguments are for set-up: they keep errno, see {@link #errno()}. Those
 * on the way of each operation, and of each time that a thread sleeps or is woken, allocate nothing
 * and keep no errno.
 *
 * <p>Only {@link #pollCq} is {@link Linker.Option#critical critical}: the thread stays in Java's
 * state, and a garbage collection waits until the call is over. A poll looks at memory that the
 * device writes, takes at the most a batch of completions, and neither sleeps nor calls back; it
 * holds a collection up no longer than Java code between two safepoints does. To post is none: with
 * soft devices it is a system call that does the device's work, as long as that takes.
 */
public final class Downcalls {
  private static final int MAX_ARGUMENTS = 6;
  private static final Linker LINKER = Linker.nativeLinker();
  private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
  private static final MethodHandle[] INT = handles(JAVA_INT);
  private static final MethodHandle[] LONG = handles(JAVA_LONG);
  private static final ThreadLocal<MemorySegment> STATE =
      ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(Linker.Option.captureStateLayout()));

  private static final MethodHandle POLL_CQ =
      LINKER.downcallHandle(
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG),
          Linker.Option.critical(false));
  private static final MethodHandle THREE =
      LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle REQUEST_NOTIFY =
      LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
  private static final MethodHandle PPOLL =
      LINKER.downcallHandle(
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));

  private Downcalls() {}

  private static MethodHandle[] handles(ValueLayout result) {
    MethodHandle[] handles = new MethodHandle[MAX_ARGUMENTS + 1];
    for (int i = 0; i < handles.length; i++) {
      MemoryLayout[] arguments = new MemoryLayout[i];
      Arrays.fill(arguments, JAVA_LONG);
      handles[i] = LINKER.downcallHandle(FunctionDescriptor.of(result, arguments), ERRNO);
    }
    return handles;
  }

  /** What errno was after this thread's last call that keeps it. */
  public static int errno() {
    return STATE.get().get(JAVA_INT, 0);
  }

  static int callInt(MemorySegment function, long... a) {
    MethodHandle call = INT[a.length];
    MemorySegment state = STATE.get();
    try {
      return switch (a.length) {
        case 0 -> (int) call.invokeExact(function, state);
        case 1 -> (int) call.invokeExact(function, state, a[0]);
        case 2 -> (int) call.invokeExact(function, state, a[0], a[1]);
        case 3 -> (int) call.invokeExact(function, state, a[0], a[1], a[2]);
        case 4 -> (int) call.invokeExact(function, state, a[0], a[1], a[2], a[3]);
        case 5 -> (int) call.invokeExact(function, state, a[0], a[1], a[2], a[3], a[4]);
        default -> (int) call.invokeExact(function, state, a[0], a[1], a[2], a[3], a[4], a[5]);
      };
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static long callLong(MemorySegment function, long... a) {
    MethodHandle call = LONG[a.length];
    MemorySegment state = STATE.get();
    try {
      return switch (a.length) {
        case 0 -> (long) call.invokeExact(function, state);
        case 1 -> (long) call.invokeExact(function, state, a[0]);
        case 2 -> (long) call.invokeExact(function, state, a[0], a[1]);
        case 3 -> (long) call.invokeExact(function, state, a[0], a[1], a[2]);
        case 4 -> (long) call.invokeExact(function, state, a[0], a[1], a[2], a[3]);
        case 5 -> (long) call.invokeExact(function, state, a[0], a[1], a[2], a[3], a[4]);
        default -> (long) call.invokeExact(function, state, a[0], a[1], a[2], a[3], a[4], a[5]);
      };
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** See ibv_poll_cq(3); {@code function} is the device's. */
  public static int pollCq(MemorySegment function, long cq, int count, long completions) {
    try {
      return (int) POLL_CQ.invokeExact(function, cq, count, completions);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** See ibv_post_send(3) and ibv_post_recv(3); {@code function} is the device's. */
  public static int post(MemorySegment function, long qp, long requests, long bad) {
    return callThree(function, qp, requests, bad);
  }

  /** Any function of up to three arguments; of its result, the lower half. */
  static int callThree(MemorySegment function, long a, long b, long c) {
    try {
      return (int) THREE.invokeExact(function, a, b, c);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** See ppoll(2), without a signal mask. */
  static int ppoll(MemorySegment function, long pollfds, long count, long timespec) {
    try {
      return (int) PPOLL.invokeExact(function, pollfds, count, timespec, 0L, 8L);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** See ibv_req_notify_cq(3); {@code function} is the device's. */
  public static int requestNotify(MemorySegment function, long cq) {
    try {
      return (int) REQUEST_NOTIFY.invokeExact(function, cq, 0);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** A downcall throws nothing of its own. */
  private static RuntimeException unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return e instanceof RuntimeException same ? same : new IllegalStateException(e);
  }
}
