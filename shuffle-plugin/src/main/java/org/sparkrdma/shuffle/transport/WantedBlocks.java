// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * The blocks of a reader's connection that are to be located, by the next LOCATEs that {@link
 * LocateSender} can send: those that a task could not locate itself, and those of which an answer
 * has left out a rest. Confined to the agent.
 */
final class WantedBlocks {
  /** 1 MB/s: a long block that comes more slowly uses TCP. */
  private static final long NS_PER_BYTE = 1_000;

  private final FetchConnection connection;
  private final LocateSender sender;
  private final long timeoutNs;
  private final ArrayDeque<BlockFetch> blocks = new ArrayDeque<>();

  WantedBlocks(FetchConnection connection, LocateSender sender) {
    this.connection = connection;
    this.sender = sender;
    this.timeoutNs = connection.shared.settings().requestTimeout().toNanos();
  }

  /** Locates blocks of a request from an index on. */
  void locate(FetchRequest request, int from, LocateAnswers answers, long nowNs) {
    for (int i = from; i < request.ranges().size(); i++) {
      BlockFetch block = new BlockFetch(answers, request, i);
      block.onWanted(nowNs);
      blocks.add(block);
    }
    locate(nowNs);
  }

  /** Locates its blocks, as far as there are messages. */
  void locate(long nowNs) {
    if (blocks.isEmpty()) {
      return;
    }
    connection.sends.lock();
    try {
      while (!blocks.isEmpty() && sender.canLocate()) {
        sender.locate(pollOfOneOwner(), nowNs);
      }
    } finally {
      connection.sends.unlock();
    }
    connection.shared.work().expectCompletion(nowNs);
  }

  /** A LOCATE has one owner, and those with memory do not wait for the lengths of others. */
  private BlockFetch[] pollOfOneOwner() {
    BlockFetch[] polled = new BlockFetch[Math.min(LocateSender.MAX_BLOCKS, blocks.size())];
    BlockFetch first = blocks.poll();
    // Tasks change it meanwhile: it is asked once.
    boolean lacksMemory = first.lacksMemory();
    polled[0] = first;
    int count = 1;
    while (count < polled.length
        && blocks.peek().owner() == first.owner()
        && blocks.peek().lacksMemory() == lacksMemory) {
      polled[count++] = blocks.poll();
    }
    return Arrays.copyOf(polled, count);
  }

  /**
   * An answer has left out a block or its rest: it is located before all others, unless that has
   * taken too long. The caller locates what is wanted.
   */
  void askForRest(BlockFetch block, long nowNs) {
    block.onWanted(nowNs);
    if (block.ageNs(nowNs) > timeoutNs + NS_PER_BYTE * block.locatedBytes()) {
      connection.onEndlessBlock(nowNs);
      block.leaveToTcp(FallbackReason.TIMEOUT, "answers come too slowly");
    } else {
      blocks.addFirst(block);
    }
  }

  /** A wanted block has memory, for which others wait. The caller locates what is wanted. */
  void askAgain(BlockFetch block) {
    blocks.addFirst(block);
  }

  /** A block that waited for memory has it: other blocks wait for what it holds. */
  void wantFirst(BlockFetch block) {
    long nowNs = connection.shared.work().nowNs();
    block.onWanted(nowNs);
    askAgain(block);
    locate(nowNs);
  }

  boolean isEmpty() {
    return blocks.isEmpty();
  }

  /** Time since which the oldest one has been wanted; otherwise the other time. */
  long oldestNs(long otherNs) {
    return blocks.isEmpty() ? otherNs : LocateSender.earlier(blocks.peek().sinceNs(), otherNs);
  }

  /** Blocks that were wanted for too long use TCP. */
  void leaveLateToTcp(long nowNs) {
    // Those that answers leave out are in front of those that were never located.
    blocks.removeIf(block -> leaveToTcpIfLate(block, nowNs));
  }

  private boolean leaveToTcpIfLate(BlockFetch block, long nowNs) {
    boolean late = nowNs - block.sinceNs() > timeoutNs;
    if (late) {
      block.leaveToTcp(FallbackReason.TIMEOUT, "no LOCATE in time");
    }
    return late;
  }

  /** They are located no more. */
  List<BlockFetch> takeAll() {
    List<BlockFetch> all = List.copyOf(blocks);
    blocks.clear();
    return all;
  }
}
