// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.fetch.FetchedBlock;
import org.sparkrdma.shuffle.fetch.FetchingTask;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.MalformedMessageException;

/**
 * The answers to the LOCATEs of a reader's connection: checks each against its LOCATE, takes memory
 * for its blocks, and adds their READs to a batch. Confined to the agent.
 */
final class LocateAnswers {
  private static final long LEASE_MARGIN_MS = 1_000;

  private final AgentResources shared;
  private final LocateSender sender;
  private final WantedBlocks wanted;
  private final long timeoutNs;
  private final Located.Decoder located = new Located.Decoder();

  /** Its blocks that wait for memory, in order. */
  private final Set<BlockFetch> waiting = new LinkedHashSet<>();

  /** Whether some wait since others of its blocks hold its share. */
  private volatile boolean isAtShare;

  /** Whether the last answer locates no byte, and had no room or time for a block. */
  private boolean noRoom;

  /** Memory of its blocks that are not delivered. */
  private long heldBytes;

  LocateAnswers(AgentResources shared, LocateSender sender, WantedBlocks wanted) {
    this.shared = shared;
    this.sender = sender;
    this.wanted = wanted;
    this.timeoutNs = shared.settings().requestTimeout().toNanos();
  }

  /** Takes an answer; returns its READs. */
  ReadBatch take(ByteBuffer answer, ReadPipeline reads, long nowNs) {
    located.begin(answer);
    BlockFetch[] asked = sender.asked(located.requestId());
    long leaseNs = TimeUnit.MILLISECONDS.toNanos(located.leaseRemainingMs() - LEASE_MARGIN_MS);
    // A READ that is posted last has its time before the lease ends, too.
    long postUntilNs = nowNs + Math.min(timeoutNs, leaseNs - timeoutNs);
    ReadBatch batch = reads.beginBatch(located.leaseId(), postUntilNs, asked.length);
    noRoom = false;
    if (located.leaseId() != 0 && leaseNs < timeoutNs) {
      for (BlockFetch block : asked) {
        block.leaveToTcp(FallbackReason.TIMEOUT, "lease shorter than the request time-out");
      }
    } else {
      addReads(asked, batch, answer.capacity() - answer.limit(), nowNs);
    }
    return batch;
  }

  /** The LOCATE of the last answer, as the peer and this end name it. */
  long requestId() {
    return located.requestId();
  }

  /** Whether the last answer locates no byte, since the peer had no room or time for blocks. */
  boolean hadNoRoom() {
    return noRoom;
  }

  /**
   * Checks an answer against its LOCATE, and adds its READs to a batch.
   *
   * @param roomBytes that its message has left
   */
  private void addReads(BlockFetch[] asked, ReadBatch batch, int roomBytes, long nowNs) {
    long bytes = 0;
    int longest = Located.extentBytes(1);
    int current = -1;
    boolean ended = false;
    boolean told = false;
    while (located.nextExtent()) {
      longest = Math.max(longest, Located.extentBytes(located.sumCount()));
      int next = located.blockIndex();
      if (next < current || next >= asked.length || (next == current && ended)) {
        throw new MalformedMessageException("bad LOCATED: blockIndex=" + next);
      }
      current = next;
      ended = located.kind() != Located.Kind.LOCATED;
      if (!ended) {
        bytes += located.lengthBytes();
        addReadsOf(asked[next], batch, nowNs);
      } else if (located.kind() == Located.Kind.NOT_COPIED) {
        told = true;
        takeLength(asked[next], nowNs);
      } else {
        leaveToTcp(asked[next], located.kind());
      }
    }
    if (current < 0) {
      throw new MalformedMessageException("bad LOCATED: no extent");
    }
    noRoom &= bytes == 0 && !told;
    // One that is not full lacks memory, perhaps that of its own lease: the rest waits for its end.
    boolean full = roomBytes < longest || bytes >= Located.MAX_LOCATED_BYTES;
    for (int i = asked.length - 1; i >= 0; i--) {
      if (!full && asked[i].isLeftOut()) {
        asked[i].expectReads(batch);
      } else if (asked[i].state() == BlockFetch.State.LOCATING) {
        wanted.askForRest(asked[i], nowNs);
      } else if (asked[i].state() == BlockFetch.State.WANTED) {
        wanted.askAgain(asked[i]);
      }
    }
  }

  /** A block was not copied, since it had no memory: it takes some, or waits for it. */
  private void takeLength(BlockFetch block, long nowNs) {
    if (block.isSettled() || block.state() == BlockFetch.State.WAITING) {
      return;
    }
    if (block.memory() != null || located.blockBytes() <= 0) {
      throw new MalformedMessageException("bad LOCATED: length of a block that has memory");
    }
    if (tryTakeMemory(block, nowNs)) {
      block.onWanted(nowNs);
    }
  }

  private void leaveToTcp(BlockFetch block, Located.Kind kind) {
    FallbackReason reason =
        switch (kind) {
          case BUSY -> FallbackReason.PEER_BUSY;
          case OVERLOADED -> FallbackReason.PEER_OVERLOADED;
          default -> FallbackReason.PEER_UNKNOWN_BLOCK;
        };
    noRoom |= kind == Located.Kind.BUSY || kind == Located.Kind.OVERLOADED;
    block.leaveToTcp(reason, "peer answered " + kind);
  }

  /**
   * Adds the READs of the extent at which the answer stands, unless its block is settled or has no
   * memory.
   */
  private void addReadsOf(BlockFetch block, ReadBatch batch, long nowNs) {
    if (block.isSettled() || block.state() == BlockFetch.State.WAITING) {
      return;
    }
    if (located.leaseId() == 0 && located.lengthBytes() > 0) {
      throw new MalformedMessageException("bad LOCATED: extent without a lease");
    }
    if (block.memory() == null && !tryTakeMemory(block, nowNs)) {
      return;
    }
    int length = located.lengthBytes();
    if (located.blockBytes() != block.blockBytes()
        || located.blockOffset() != block.locatedBytes()
        || (length == 0 && block.blockBytes() != 0)) {
      throw new MalformedMessageException("bad LOCATED: extent out of order");
    }
    block.addReads(located, batch);
  }

  /** Takes memory for a block of which an extent is located first, or lets it wait, or use TCP. */
  private boolean tryTakeMemory(BlockFetch block, long nowNs) {
    long bytes = located.blockBytes();
    if (!shared.receiveMemory().canFit(bytes)) {
      block.leaveToTcp(FallbackReason.POOL_EMPTY, "block larger than the receive memory");
      return false;
    }
    block.setLength(bytes);
    FetchedBlock memory = shared.receiveMemory().tryTake(block);
    if (memory == null) {
      block.onNoMemory();
      shared.receiveMemory().enqueue(block, nowNs);
      waiting.add(block);
      if (!block.mayTake()) {
        isAtShare = true;
      }
      return false;
    }
    block.setMemory(memory);
    return true;
  }

  /** Whether blocks like those of a reader wait for memory. Safe for any thread. */
  boolean lackMemory(FetchingTask reader) {
    return isAtShare || shared.receiveMemory().isShort(reader);
  }

  /** A block that waited for memory has it, or has waited too long. */
  void onMemory(BlockFetch block) {
    endWait(block);
    if (block.memory() == null) {
      block.leaveToTcp(FallbackReason.POOL_EMPTY, "no receive memory in time");
    } else {
      wanted.wantFirst(block);
    }
  }

  /** Memory of its blocks that are not delivered changes by this. */
  void hold(long bytes) {
    heldBytes += bytes;
  }

  /** Whether another block may have memory; a single one always may. */
  boolean mayHold(long bytes) {
    return heldBytes == 0 || heldBytes + bytes <= shared.receiveMemory().shareBytes();
  }

  /** Whether some of its blocks wait for memory. */
  boolean hasWaiting() {
    return !waiting.isEmpty();
  }

  /** Its blocks that wait for memory, in order; the list is the caller's. */
  List<BlockFetch> waiting() {
    return new ArrayList<>(waiting);
  }

  /** A block waits for memory no longer. */
  void cancel(BlockFetch block) {
    endWait(block);
    shared.receiveMemory().cancel(block);
  }

  private void endWait(BlockFetch block) {
    waiting.remove(block);
    if (waiting.isEmpty()) {
      isAtShare = false;
    }
  }
}
