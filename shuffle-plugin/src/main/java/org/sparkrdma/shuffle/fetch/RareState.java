// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

/**
 * State that few blocks have: of those that are written to disk, come from the server's copy pool,
 * wait, or are requested again. Owned as its {@link BlockProgress}.
 */
final class RareState {
  /** Null before the first piece is written to disk. */
  DiskBlock disk;

  /** Of the bytes that have been read, and of the part, those from the server's copy pool. */
  long copiedBytes;

  long partCopiedBytes;

  boolean reissued;
  int waitsForRoom;
  int smallProgress;

  /** Whether it waits for receive memory, and since when. */
  boolean waiting;

  long waitingSinceNs;
}
