// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Predicate;
import org.sparkrdma.shuffle.fetch.BlockProgress;

/**
 * The blocks of a connection that are not located yet. A block that was located and waits for
 * receive memory must be located again when it has memory. Owned by the agent.
 */
final class WantedBlocks {
  private final ArrayDeque<BlockProgress> queue = new ArrayDeque<>();

  /** Blocks that have got memory after a wait. */
  private final List<BlockProgress> ready = new ArrayList<>();

  /** Number of blocks in the queue for receive memory. */
  private int waitingForMemory;

  /** Whether no block is to be located, now or when it has memory. */
  boolean isEmpty() {
    return queue.isEmpty() && ready.isEmpty() && waitingForMemory == 0;
  }

  /** Whether blocks can be located now; see {@link #queueReady}. */
  boolean areQueued() {
    return !queue.isEmpty();
  }

  /** Blocks to locate together, the first one first; the caller may remove some. */
  Deque<BlockProgress> queue() {
    return queue;
  }

  void add(BlockProgress block) {
    queue.add(block);
  }

  /** Adds blocks, in their order. */
  void add(List<BlockProgress> blocks) {
    queue.addAll(blocks);
  }

  /**
   * Adds them at the front in order, so that neighbouring blocks and their windows stay together.
   */
  void addFirst(List<BlockProgress> blocks) {
    for (int i = blocks.size() - 1; i >= 0; i--) {
      queue.addFirst(blocks.get(i));
    }
  }

  /** A block begins to wait for memory. */
  void onWait() {
    waitingForMemory++;
  }

  /** A block that waited has memory now. */
  void onMemory(BlockProgress block) {
    waitingForMemory--;
    ready.add(block);
  }

  /** A block that waited has failed. */
  void onNoMemory() {
    waitingForMemory--;
  }

  /** Adds those that have got memory at the front. */
  void queueReady() {
    addFirst(ready);
    ready.clear();
  }

  /** Removes those of the blocks that can be located now for which this is true. */
  void removeIf(Predicate<BlockProgress> condition) {
    queue.removeIf(condition);
  }

  /** Removes those that can be located now, into a new list. */
  List<BlockProgress> takeQueued() {
    List<BlockProgress> taken = new ArrayList<>(queue);
    queue.clear();
    return taken;
  }

  /** A new list of all blocks that do not wait for memory, which its queue holds. */
  List<BlockProgress> all() {
    List<BlockProgress> all = new ArrayList<>(queue);
    all.addAll(ready);
    return all;
  }

  /** Removes all blocks. Returns those that do not wait for memory, which its queue holds. */
  List<BlockProgress> takeAll() {
    List<BlockProgress> taken = takeQueued();
    taken.addAll(ready);
    ready.clear();
    waitingForMemory = 0;
    return taken;
  }
}
