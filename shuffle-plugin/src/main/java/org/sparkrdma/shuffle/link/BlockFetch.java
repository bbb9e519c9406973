// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.link;

import java.util.Set;

/** The blocks of one {@link BlockRequest} in this transport. Confined to the agent. */
final class BlockFetch {
  private final BlockRequest request;
  private final BlockRead[] blocks;
  private final Set<BlockFetch> open;
  private int unsettled;

  /**
   * @param open fetches with unsettled blocks; this one is added, and removed with its last block
   */
  BlockFetch(BlockRequest request, Set<BlockFetch> open) {
    this.request = request;
    this.open = open;
    this.unsettled = request.ranges().size();
    this.blocks = new BlockRead[unsettled];
    for (int i = 0; i < unsettled; i++) {
      blocks[i] = new BlockRead(this, i);
    }
    open.add(this);
  }

  BlockRequest request() {
    return request;
  }

  int size() {
    return blocks.length;
  }

  BlockRead block(int i) {
    return blocks[i];
  }

  void onSettled() {
    if (--unsettled == 0) {
      open.remove(this);
    }
  }
}
