// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

/**
 * A peer's registered memory, as the peer described it.
 *
 * @param address of its first byte
 * @param lengthBytes its length
 * @param remoteKey key that grants access; never logged
 */
public record RemoteRegion(long address, long lengthBytes, int remoteKey) {
  /** Text without the key and the address: both are secrets of the two peers. */
  @Override
  public String toString() {
    return "RemoteRegion[lengthBytes=" + lengthBytes + "]";
  }
}
