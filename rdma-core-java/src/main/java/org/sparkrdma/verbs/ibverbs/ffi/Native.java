// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import com.kenai.jffi.CallContext;
import com.kenai.jffi.CallingConvention;
import com.kenai.jffi.Invoker;
import com.kenai.jffi.MemoryIO;
import com.kenai.jffi.Type;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads and writes memory by its address, unchecked, as C does, and calls the C functions that are
 * called for each operation and each wait, which allocates nothing and keeps no errno; {@link
 * SetUpCalls} has all others. By jffi, which calls C through JNI. Use {@link JffiLibrary#check}
 * first. Safe for any thread.
 *
 * <p>Addresses and pointers are plain {@code long}s. No method owns memory: the code that allocates
 * also frees. {@link NativeArena} frees the memory of structs and calls, {@link AddressRange} the
 * memory of buffers.
 *
 * <p>Memory is accessed by jffi's {@link MemoryIO}: it uses Unsafe, which the JIT compiler turns
 * into plain loads and stores, and JNI with -Djffi.unsafe.disabled=true.
 */
public final class Native {
  private static final Invoker INVOKER = Invoker.getInstance();
  private static final MemoryIO MEMORY = MemoryIO.getInstance();
  private static final int MAX_STRING_BYTES = 4_096;

  private static final CallContext THREE = context(3, false);
  private static final CallContext FIVE = context(5, false);

  private Native() {}

  static CallContext context(int arguments, boolean keepsErrno) {
    Type[] types = new Type[arguments];
    Arrays.fill(types, Type.SINT64);
    return CallContext.getCallContext(Type.SINT64, types, CallingConvention.DEFAULT, keepsErrno);
  }

  // Calls.

  /** See ibv_poll_cq(3); {@code function} is the device's. */
  public static int pollCq(long function, long cq, int count, long completions) {
    return callThree(function, cq, count, completions);
  }

  /** See ibv_post_send(3) and ibv_post_recv(3); {@code function} is the device's. */
  public static int post(long function, long qp, long requests, long bad) {
    return callThree(function, qp, requests, bad);
  }

  /** See ibv_req_notify_cq(3); {@code function} is the device's. */
  public static int requestNotify(long function, long cq) {
    return callThree(function, cq, 0, 0);
  }

  /** Calls any function of up to three arguments; returns the lower half of its result. */
  static int callThree(long function, long a, long b, long c) {
    return (int) INVOKER.invokeL3NoErrno(THREE, function, a, b, c);
  }

  /** See ppoll(2), without a signal mask. */
  static int ppoll(long function, long pollfds, long count, long timespec) {
    return (int) INVOKER.invokeL5NoErrno(FIVE, function, pollfds, count, timespec, 0, Long.BYTES);
  }

  // Memory.

  public static long getLong(long address) {
    return MEMORY.getLong(address);
  }

  public static int getInt(long address) {
    return MEMORY.getInt(address);
  }

  public static int getShort(long address) {
    return MEMORY.getShort(address) & 0xffff;
  }

  public static int getByte(long address) {
    return MEMORY.getByte(address) & 0xff;
  }

  public static void putLong(long address, long value) {
    MEMORY.putLong(address, value);
  }

  public static void putInt(long address, int value) {
    MEMORY.putInt(address, value);
  }

  public static void putShort(long address, int value) {
    MEMORY.putShort(address, (short) value);
  }

  public static void putByte(long address, int value) {
    MEMORY.putByte(address, (byte) value);
  }

  /** A copy of the bytes there. */
  public static byte[] bytes(long address, int length) {
    byte[] bytes = new byte[length];
    MEMORY.getByteArray(address, bytes, 0, length);
    return bytes;
  }

  /** The string there, up to its zero byte; empty for a null pointer. */
  public static String string(long address) {
    if (address == 0) {
      return "";
    }
    byte[] bytes = MEMORY.getZeroTerminatedByteArray(address, MAX_STRING_BYTES);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  static void fill(long address, long lengthBytes, byte value) {
    MEMORY.setMemory(address, lengthBytes, value);
  }

  /** A buffer over the memory there, which it neither owns nor keeps. */
  static ByteBuffer buffer(long address, int lengthBytes) {
    return MEMORY.newDirectByteBuffer(address, lengthBytes);
  }
}
