// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.sparkrdma.shuffle.fetch.ReceivePool;

/**
 * The blocks of a connection that are not located yet. A block that was located and waits for
 * receive memory must be located again when it has memory. Owned by the agent.
 */
final class WantedBlocks {
  private final ArrayDeque<BlockProgress> queue = new ArrayDeque<>();

  /** Blocks that have got memory after a wait. */
  private final List<BlockProgress> ready = new ArrayList<>();

  /** Blocks that wait for receive memory. */
  private final Set<BlockProgress> waitingForMemory = new LinkedHashSet<>();

  /** Whether no block is to be located, now or when it has memory. */
  boolean isEmpty() {
    return queue.isEmpty() && ready.isEmpty() && waitingForMemory.isEmpty();
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
  void onWait(BlockProgress block) {
    waitingForMemory.add(block);
  }

  /** A block that waited has memory now. */
  void onMemory(BlockProgress block) {
    waitingForMemory.remove(block);
    ready.add(block);
  }

  /** A block that waited has failed. */
  void onNoMemory(BlockProgress block) {
    waitingForMemory.remove(block);
  }

  /** The connection ends: no block waits for memory any more. */
  void cancelWaits(ReceivePool receive) {
    waitingForMemory.forEach(block -> block.cancelWait(receive));
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

  /** A new list of all blocks. */
  List<BlockProgress> all() {
    List<BlockProgress> all = new ArrayList<>(queue);
    all.addAll(ready);
    all.addAll(waitingForMemory);
    return all;
  }

  /** Removes and returns all blocks. */
  List<BlockProgress> takeAll() {
    List<BlockProgress> taken = takeQueued();
    taken.addAll(ready);
    ready.clear();
    taken.addAll(waitingForMemory);
    waitingForMemory.clear();
    return taken;
  }
}
