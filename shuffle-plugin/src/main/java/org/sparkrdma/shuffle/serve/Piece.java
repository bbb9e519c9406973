// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

/** Remote address of a range of a file; reused for each piece. Used with the server's lock. */
final class Piece {
  private long address;
  private int remoteKey;
  private int lengthBytes;
  private boolean copied;

  /** Whether it is in the copy pool. */
  boolean isCopied() {
    return copied;
  }

  void copied(boolean inCopyPool) {
    copied = inCopyPool;
  }

  void set(long newAddress, int newRemoteKey, int newLengthBytes) {
    address = newAddress;
    remoteKey = newRemoteKey;
    lengthBytes = newLengthBytes;
  }

  long address() {
    return address;
  }

  int remoteKey() {
    return remoteKey;
  }

  int lengthBytes() {
    return lengthBytes;
  }
}
