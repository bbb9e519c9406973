// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/** The binding on java.lang.foreign. */
final class LinkerBinding implements ForeignBinding {
  private static final Linker LINKER = Linker.nativeLinker();

  /** Handles of calls that keep errno, by the number of arguments. */
  private static final MethodHandle[] KEEPING = keeping();

  private static final MethodHandle THREE = LINKER.downcallHandle(descriptor(JAVA_INT, 3));
  private static final MethodHandle FIVE = LINKER.downcallHandle(descriptor(JAVA_INT, 5));
  private static final MethodHandle CRITICAL =
      LINKER.downcallHandle(descriptor(JAVA_INT, 3), Linker.Option.critical(false));
  private static final int FUNCTION_ALIGNMENT_BITS = 4;
  private static final MemorySegment[] FUNCTIONS = new MemorySegment[64];
  private static final ThreadLocal<MemorySegment> ERRNO =
      ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(Linker.Option.captureStateLayout()));

  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  /** All that an address of a process can have, and below the end of {@link #ALL} by far. */
  private static final long ADDRESS_BITS = (1L << 62) - 1;

  private static final int MAX_STRING_BYTES = 4_096;

  private static MethodHandle[] keeping() {
    MethodHandle[] handles = new MethodHandle[MAX_ARGUMENTS + 1];
    Linker.Option errno = Linker.Option.captureCallState("errno");
    Arrays.setAll(handles, i -> LINKER.downcallHandle(descriptor(JAVA_LONG, i), errno));
    return handles;
  }

  private static FunctionDescriptor descriptor(ValueLayout result, int arguments) {
    MemoryLayout[] layouts = new MemoryLayout[arguments];
    Arrays.fill(layouts, JAVA_LONG);
    return FunctionDescriptor.of(result, layouts);
  }

  @Override
  public String name() {
    return "java.lang.foreign";
  }

  @Override
  public Symbols open(String file) {
    return new LookupSymbols(file, SymbolLookup.libraryLookup(file, Arena.global()));
  }

  @Override
  public Symbols openC() {
    return new LookupSymbols("libc", LINKER.defaultLookup());
  }

  private static final class LookupSymbols extends Symbols {
    private final SymbolLookup lookup;

    LookupSymbols(String file, SymbolLookup lookup) {
      super(file);
      this.lookup = lookup;
    }

    @Override
    long findOrZero(String name) {
      return lookup.find(name).map(MemorySegment::address).orElse(0L);
    }
  }

  @Override
  public long call(long function, long... a) {
    MethodHandle call = KEEPING[a.length];
    MemorySegment errno = ERRNO.get();
    MemorySegment f = MemorySegment.ofAddress(function);
    try {
      return switch (a.length) {
        case 0 -> (long) call.invokeExact(f, errno);
        case 1 -> (long) call.invokeExact(f, errno, a[0]);
        case 2 -> (long) call.invokeExact(f, errno, a[0], a[1]);
        case 3 -> (long) call.invokeExact(f, errno, a[0], a[1], a[2]);
        case 4 -> (long) call.invokeExact(f, errno, a[0], a[1], a[2], a[3]);
        case 5 -> (long) call.invokeExact(f, errno, a[0], a[1], a[2], a[3], a[4]);
        case 6 -> (long) call.invokeExact(f, errno, a[0], a[1], a[2], a[3], a[4], a[5]);
        default -> (long) call.invokeExact(f, errno, a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
      };
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public int errno() {
    return ERRNO.get().get(JAVA_INT, 0);
  }

  @Override
  public int callThree(long function, long a, long b, long c) {
    return invoke(THREE, function, a, b, c);
  }

  private static int invoke(MethodHandle handle, long function, long a, long b, long c) {
    try {
      return (int) handle.invokeExact(function(function), a, b, c);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public int callFive(long function, long a, long b, long c, long d, long e) {
    try {
      return (int) FIVE.invokeExact(function(function), a, b, c, d, e);
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  /** {@link Linker.Option#critical Critical}: the thread stays in Java's state. */
  @Override
  public int callCritical(long function, long a, long b, long c) {
    return invoke(CRITICAL, function, a, b, c);
  }

  /**
   * The function at that address. Segments of functions used lately are kept, because only the
   * second compiler removes the allocation of a new one. Safe for any thread: a segment is
   * immutable, and a lost update costs one allocation.
   */
  private static MemorySegment function(long address) {
    int index = (int) (address >>> FUNCTION_ALIGNMENT_BITS) & (FUNCTIONS.length - 1);
    MemorySegment known = FUNCTIONS[index];
    if (known == null || known.address() != address) {
      known = MemorySegment.ofAddress(address);
      FUNCTIONS[index] = known;
    }
    return known;
  }

  /** A downcall throws nothing of its own. */
  private static RuntimeException unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return e instanceof RuntimeException same ? same : new IllegalStateException(e);
  }

  @Override
  public long inRange(long address) {
    return address & ADDRESS_BITS;
  }

  @Override
  public long getLong(long address) {
    return ALL.get(JAVA_LONG_UNALIGNED, address);
  }

  @Override
  public int getInt(long address) {
    return ALL.get(JAVA_INT_UNALIGNED, address);
  }

  @Override
  public short getShort(long address) {
    return ALL.get(JAVA_SHORT_UNALIGNED, address);
  }

  @Override
  public byte getByte(long address) {
    return ALL.get(JAVA_BYTE, address);
  }

  @Override
  public void putLong(long address, long value) {
    ALL.set(JAVA_LONG_UNALIGNED, address, value);
  }

  @Override
  public void putInt(long address, int value) {
    ALL.set(JAVA_INT_UNALIGNED, address, value);
  }

  @Override
  public void putShort(long address, short value) {
    ALL.set(JAVA_SHORT_UNALIGNED, address, value);
  }

  @Override
  public void putByte(long address, byte value) {
    ALL.set(JAVA_BYTE, address, value);
  }

  @Override
  public byte[] bytes(long address, int length) {
    return ALL.asSlice(address, length).toArray(JAVA_BYTE);
  }

  @Override
  public String string(long address) {
    return MemorySegment.ofAddress(address).reinterpret(MAX_STRING_BYTES).getString(0);
  }

  @Override
  public void fill(long address, long lengthBytes, byte value) {
    ALL.asSlice(address, lengthBytes).fill(value);
  }

  @Override
  public AddressRange view(long address, long lengthBytes) {
    return new SegmentAddressRange(address, lengthBytes);
  }
}
