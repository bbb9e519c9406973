// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.fetch.BlockProgress;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/** Blocks of a connection that wait for receive memory, for a short time. Owned by the agent. */
final class WaitingBlocks {
  /** Maximum time that a block waits for receive memory. Then it uses TCP. */
  private static final long MAX_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(30);

  /** Interval of checks for receive memory; free memory is not signalled. */
  private static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private final TransportContext context;
  private final ArrayDeque<BlockProgress> blocks = new ArrayDeque<>();
  private long checkedNs;

  WaitingBlocks(TransportContext context) {
    this.context = context;
  }

  void add(BlockProgress block) {
    blocks.add(block);
  }

  boolean isEmpty() {
    return blocks.isEmpty();
  }

  /** Those that now have memory, in their order; those that waited too long use TCP. */
  List<BlockProgress> takeReady(long nowNs) {
    if (blocks.isEmpty() || nowNs - checkedNs < CHECK_NS) {
      return List.of();
    }
    checkedNs = nowNs;
    List<BlockProgress> ready = new ArrayList<>();
    for (int left = blocks.size(); left > 0; left--) {
      BlockProgress block = blocks.poll();
      block.startWaiting(nowNs);
      long waitedNs = block.waitedNs(nowNs);
      if (waitedNs >= MAX_WAIT_NS) {
        context.counters().waitedForMemory(waitedNs);
        context.delivery().fail(block, FallbackReason.POOL_EMPTY, "no receive memory for too long");
      } else if (block.tryReserve(context.receive())) {
        context.counters().waitedForMemory(waitedNs);
        ready.add(block);
      } else {
        blocks.add(block);
      }
    }
    return ready;
  }

  /** All of them, at the end of the connection. */
  List<BlockProgress> takeAll() {
    List<BlockProgress> all = List.copyOf(blocks);
    blocks.clear();
    return all;
  }
}
