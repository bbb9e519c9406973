// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

/** Reads and writes memory by its address, unchecked, as C does. */
public final class Memory {
  private static final ForeignBinding CALLS = Binding.calls();

  private Memory() {}

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
