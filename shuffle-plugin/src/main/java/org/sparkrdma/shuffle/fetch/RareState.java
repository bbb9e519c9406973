// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

/**
 * State that few blocks have: of those that are written to disk, come from the server's copy pool,
 * wait, or are located more than once. Owned as its {@link BlockProgress}.
 */
final class RareState {
  /** Its file; null for a block in memory. Not changed any more. */
  DiskBlock disk;

  /** Bytes that have been read from the server's copy pool, then those of the present part. */
  long copiedBytes;

  long partCopiedBytes;

  boolean reissued;
  int waitsForRoom;
  int smallProgress;

  /** Whether it waits for receive memory, and since when. */
  boolean waiting;

  long waitingSinceNs;

  /** Time that the peer has taken for answers and READs that did not complete the block. */
  long peerNs;

  /** Whether there is such a time, and when the last one ended. */
  boolean peerTimed;

  long peerUntilNs;
}
