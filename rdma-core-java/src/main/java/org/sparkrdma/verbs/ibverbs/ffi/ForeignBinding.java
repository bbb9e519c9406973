// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

/**
 * Calls C functions, and reads and writes native memory. Each JVM uses one implementation, see
 * {@link Native}. Addresses and pointers are plain {@code long}s. Every argument goes as a {@code
 * long}, which the calling conventions of 64-bit Linux allow. Safe for any thread.
 *
 * <p>No method checks an address or owns memory: the code that allocates also frees. {@link
 * NativeArena} frees the memory of structs and calls, {@link AddressRange} the memory of buffers.
 */
interface ForeignBinding {
  /** Maximum number of arguments of {@link #call}. */
  int MAX_ARGUMENTS = 7;

  /** A name for logs and tests. */
  String name();

  /**
   * Loads a system library.
   *
   * @throws IllegalArgumentException when there is none of that name
   */
  Symbols open(String file);

  /** The C library. */
  Symbols openC();

  /**
   * Calls a function with at most {@link #MAX_ARGUMENTS} arguments and keeps errno. For calls at
   * set-up: it may allocate.
   *
   * @return the result register; a function that returns an int sets its lower half only
   */
  long call(long function, long... arguments);

  /** The errno of this thread's last {@link #call}. */
  int errno();

  /** Calls a function with at most three arguments; allocates nothing and keeps no errno. */
  int callThree(long function, long a, long b, long c);

  /** Calls a function with at most five arguments; allocates nothing and keeps no errno. */
  int callFive(long function, long a, long b, long c, long d, long e);

  /**
   * Calls a function that neither sleeps nor calls back and returns quickly; allocates nothing and
   * keeps no errno. A garbage collection may wait for it.
   */
  int callCritical(long function, long a, long b, long c);

  /**
   * Returns the same address in a form for which the JIT compiler omits the checks of reads and
   * writes shortly after it. For structs that every operation uses.
   */
  long inRange(long address);

  long getLong(long address);

  int getInt(long address);

  short getShort(long address);

  byte getByte(long address);

  void putLong(long address, long value);

  void putInt(long address, int value);

  void putShort(long address, short value);

  void putByte(long address, byte value);

  /** A copy of the bytes there. */
  byte[] bytes(long address, int length);

  /** The string there, up to its zero byte. */
  String string(long address);

  /** Sets bytes. */
  void fill(long address, long lengthBytes, byte value);

  /**
   * Shows a mapping through buffers. The range unmaps it with {@link Libc#unmap} when it is closed;
   * see {@link AddressRange#abandon} for a range that is not.
   */
  AddressRange view(long address, long lengthBytes);
}
