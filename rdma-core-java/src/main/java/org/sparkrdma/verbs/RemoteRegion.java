// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

/**
 * A peer's registered memory, as the peer described it.
 *
 * @param address of its first byte
 * @param lengthBytes its length
 * @param remoteKey key that grants access; one of 32 bits is widened without its sign; never logged
 */
public record RemoteRegion(long address, long lengthBytes, long remoteKey) {
  /**
   * {@return a region of an engine whose keys have 32 bits}
   *
   * @param address of its first byte
   * @param lengthBytes its length
   * @param remoteKey key that grants access; widened without its sign
   */
  public static RemoteRegion ofKey32(long address, long lengthBytes, int remoteKey) {
    return new RemoteRegion(address, lengthBytes, Integer.toUnsignedLong(remoteKey));
  }

  /**
   * {@return the key as 32 bits}
   *
   * @throws ArithmeticException when it is wider
   */
  public int remoteKey32() {
    if (remoteKey >>> Integer.SIZE != 0) {
      throw new ArithmeticException("a remote key of more than 32 bits");
    }
    return (int) remoteKey;
  }

  /** Text without the key and the address: both are secrets of the two peers. */
  @Override
  public String toString() {
    return "RemoteRegion[lengthBytes=" + lengthBytes + "]";
  }
}
