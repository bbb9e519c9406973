// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.List;

/**
 * Divides short READs where they cross a page of the peer. The kernel's soft iWARP answers them
 * with wrong bytes: siw_try_1seg in its siw_qp_tx.c takes the number of bytes in the second page
 * for that in the first one. It is called for up to 32 bytes (MAX_HDR_INLINE). Short READs are
 * rare, so they are divided for every device. Without state.
 */
final class ShortReads {
  private static final int MAX_BYTES = 32;

  /** The smallest page; larger ones are multiples of it. */
  private static final int PAGE_BYTES = 4_096;

  private ShortReads() {}

  /** Divides short READs of a list, so that each is within one page. */
  static void divide(List<ReadOperation> reads, ReadPool pool) {
    for (int i = 0; i < reads.size(); i++) {
      ReadOperation read = reads.get(i);
      int ofFirstPage = PAGE_BYTES - (int) (read.remoteAddress() & (PAGE_BYTES - 1));
      if (read.lengthBytes() <= MAX_BYTES && read.lengthBytes() > ofFirstPage) {
        reads.add(i + 1, read.splitAt(ofFirstPage, pool));
      }
    }
  }
}
