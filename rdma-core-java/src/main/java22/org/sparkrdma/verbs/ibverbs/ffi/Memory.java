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

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;

/** Reads and writes memory by its address, unchecked, as C does. */
public final class Memory {
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  /** All that an address of a process can have, and below the end of {@link #ALL} by far. */
  private static final long ADDRESS_BITS = (1L << 62) - 1;

  private Memory() {}

  /**
   * The same address, as one of which the JIT compiler knows the range: it leaves out the checks of
   * what is read and written a little behind it. For structs that every operation touches.
   */
  public static long inRange(long address) {
    return address & ADDRESS_BITS;
  }

  public static long getLong(long address) {
    return ALL.get(JAVA_LONG_UNALIGNED, address);
  }

  public static int getInt(long address) {
    return ALL.get(JAVA_INT_UNALIGNED, address);
  }

  public static int getShort(long address) {
    return ALL.get(JAVA_SHORT_UNALIGNED, address) & 0xffff;
  }

  public static int getByte(long address) {
    return ALL.get(JAVA_BYTE, address) & 0xff;
  }

  public static void putLong(long address, long value) {
    ALL.set(JAVA_LONG_UNALIGNED, address, value);
  }

  public static void putInt(long address, int value) {
    ALL.set(JAVA_INT_UNALIGNED, address, value);
  }

  public static void putShort(long address, int value) {
    ALL.set(JAVA_SHORT_UNALIGNED, address, (short) value);
  }

  public static void putByte(long address, int value) {
    ALL.set(JAVA_BYTE, address, (byte) value);
  }

  /** A copy of the bytes there. */
  public static byte[] bytes(long address, int length) {
    return ALL.asSlice(address, length).toArray(JAVA_BYTE);
  }

  /** The string there, up to its zero byte. */
  public static String string(long address) {
    return address == 0 ? "" : MemorySegment.ofAddress(address).reinterpret(4_096).getString(0);
  }

  /** The function whose pointer stands there. */
  public static MemorySegment function(long address) {
    return MemorySegment.ofAddress(getLong(address));
  }
}
