// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import com.kenai.jffi.CallContext;
import com.kenai.jffi.CallingConvention;
import com.kenai.jffi.HeapInvocationBuffer;
import com.kenai.jffi.Invoker;
import com.kenai.jffi.LastError;
import com.kenai.jffi.Library;
import com.kenai.jffi.MemoryIO;
import com.kenai.jffi.Type;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The binding on jffi, which calls C through JNI: for Java versions without java.lang.foreign.
 *
 * <p>Memory is accessed by jffi's {@link MemoryIO}: it uses Unsafe, which the JIT compiler turns
 * into plain loads and stores and which needs no option of the JVM, and JNI where Unsafe is
 * missing.
 */
final class JffiBinding implements ForeignBinding {
  private static final Invoker INVOKER = Invoker.getInstance();
  private static final LastError ERRNO = LastError.getInstance();
  private static final MemoryIO MEMORY = MemoryIO.getInstance();
  private static final int MAX_STRING_BYTES = 4_096;

  /** Contexts for calls that keep errno, by the number of arguments. */
  private static final CallContext[] KEEPING = contexts();

  private static final CallContext THREE = context(3, false);
  private static final CallContext FIVE = context(5, false);

  /**
   * Every library that was opened. jffi 1.2 unloads one that nothing refers to, by its finalizer,
   * and callers of this binding keep addresses of functions only.
   */
  private static final Queue<Library> OPENED = new ConcurrentLinkedQueue<>();

  private JffiBinding() {}

  /** Tries every kind of call once, so that an unusable jffi shows here. */
  static ForeignBinding open() {
    var binding = new JffiBinding();
    binding.tryCalls();
    return binding;
  }

  private void tryCalls() {
    long function = openC().get("getpagesize");
    for (int i = 0; i <= MAX_ARGUMENTS; i++) {
      call(function, new long[i]);
    }
    callThree(function, 0, 0, 0);
    callFive(function, 0, 0, 0, 0, 0);
    callCritical(function, 0, 0, 0);
    errno();
  }

  private static CallContext[] contexts() {
    CallContext[] contexts = new CallContext[MAX_ARGUMENTS + 1];
    for (int i = 0; i < contexts.length; i++) {
      contexts[i] = context(i, true);
    }
    return contexts;
  }

  private static CallContext context(int arguments, boolean keepsErrno) {
    Type[] types = new Type[arguments];
    Arrays.fill(types, Type.SINT64);
    return CallContext.getCallContext(Type.SINT64, types, CallingConvention.DEFAULT, keepsErrno);
  }

  @Override
  public String name() {
    return "jffi";
  }

  @Override
  public Symbols open(String file) {
    Library library = Library.openLibrary(file, Library.LAZY | Library.LOCAL);
    if (library == null) {
      throw new IllegalArgumentException(Library.getLastError());
    }
    OPENED.add(library);
    return new JffiSymbols(file, library);
  }

  @Override
  public Symbols openC() {
    return new JffiSymbols("libc", Library.getDefault());
  }

  private static final class JffiSymbols extends Symbols {
    private final Library library;

    JffiSymbols(String file, Library library) {
      super(file);
      this.library = library;
    }

    @Override
    long findOrZero(String name) {
      return library.getSymbolAddress(name);
    }
  }

  @Override
  public long call(long function, long... a) {
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

  @Override
  public int errno() {
    return ERRNO.get();
  }

  @Override
  public int callThree(long function, long a, long b, long c) {
    return (int) INVOKER.invokeL3NoErrno(THREE, function, a, b, c);
  }

  @Override
  public int callFive(long function, long a, long b, long c, long d, long e) {
    return (int) INVOKER.invokeL5NoErrno(FIVE, function, a, b, c, d, e);
  }

  /** A normal call: JNI has no critical calls. */
  @Override
  public int callCritical(long function, long a, long b, long c) {
    return callThree(function, a, b, c);
  }

  @Override
  public long inRange(long address) {
    return address;
  }

  @Override
  public long getLong(long address) {
    return MEMORY.getLong(address);
  }

  @Override
  public int getInt(long address) {
    return MEMORY.getInt(address);
  }

  @Override
  public short getShort(long address) {
    return MEMORY.getShort(address);
  }

  @Override
  public byte getByte(long address) {
    return MEMORY.getByte(address);
  }

  @Override
  public void putLong(long address, long value) {
    MEMORY.putLong(address, value);
  }

  @Override
  public void putInt(long address, int value) {
    MEMORY.putInt(address, value);
  }

  @Override
  public void putShort(long address, short value) {
    MEMORY.putShort(address, value);
  }

  @Override
  public void putByte(long address, byte value) {
    MEMORY.putByte(address, value);
  }

  @Override
  public byte[] bytes(long address, int length) {
    byte[] bytes = new byte[length];
    MEMORY.getByteArray(address, bytes, 0, length);
    return bytes;
  }

  @Override
  public String string(long address) {
    byte[] bytes = MEMORY.getZeroTerminatedByteArray(address, MAX_STRING_BYTES);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  @Override
  public void fill(long address, long lengthBytes, byte value) {
    MEMORY.setMemory(address, lengthBytes, value);
  }

  @Override
  public AddressRange view(long address, long lengthBytes) {
    return new JffiAddressRange(MEMORY, address, lengthBytes);
  }
}
