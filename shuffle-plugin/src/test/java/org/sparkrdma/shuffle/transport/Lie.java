// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

/** The kinds of wrong messages of a {@link LyingServer}. */
enum Lie {
  // Before the proof.
  EARLY_RELEASED,
  EARLY_LOCATED,
  // Answers to a RELEASE.
  TOO_MANY_CREDITS,
  // Messages that answer no request, or another one.
  NO_ANSWER,
  RELEASED_TO_A_LOCATE,
  RELEASED_TO_NO_REQUEST,
  LOCATED_TO_NO_REQUEST,
  LOCATED_TO_ANOTHER_LOCATE,
  LOCATED_TO_A_RELEASE,
  RELEASED_TWICE,
  CONFIRM,
  RETURN,
  GARBAGE,
  // A LOCATED with wrong content.
  OTHER_BLOCK_LENGTH,
  LOCATED_AND_BUSY,
  LOCATED_AND_UNKNOWN,
  EMPTY_PIECE,
  LEASE_OF_ANOTHER_ANSWER,
  NO_LEASE,
  OTHER_ORDER,
  OVERLAP,
  GAP,
  MORE_BLOCKS,
  PIECE_TWICE,
  OTHER_LEASE_TIME,
  NO_PIECES,
  OTHER_CHECKSUM,
  OTHER_PIECE_LENGTH,
  SUMS_OF_OTHER_PARTITIONS
}
