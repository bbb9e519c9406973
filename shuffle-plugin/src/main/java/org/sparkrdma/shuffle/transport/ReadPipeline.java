// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.pinned.MemoryShares;

/**
 * The READs of a reader's connection: posts those of each answer as far as the send queue and the
 * {@link ReadLimit} have room, and hands whole blocks to their requests. Confined to the agent.
 */
final class ReadPipeline {
  /** Entries that READs leave to messages. */
  private static final int MESSAGE_ENTRIES = 2 * LocateSender.MESSAGES;

  private final FetchConnection connection;
  private final AgentResources shared;
  private final SendQueue sends;
  private final LocateSender sender;
  private final WantedBlocks wanted;
  private final List<ReadBatch> batches = new ArrayList<>();

  /** A batch that is done, for the next answer; null without one. */
  private ReadBatch spare;

  /** Batches with READs to post. */
  private final ArrayDeque<ReadBatch> unposted = new ArrayDeque<>();

  /** Whether it waits for its turn in {@link ReadLimit}. */
  private boolean waitsForTurn;

  /** Times at which READs were posted, by their numbers; they complete in order. */
  private final long[] postedNs = new long[MemoryShares.READER_SENDS];

  private int readsPosted;
  private int readsDone;

  /** Bytes of posted READs that {@link ReadLimit} counts. */
  private long inFlightBytes;

  /**
   * Bytes of posted READs that are not counted any more, because they made no progress. They
   * complete before later ones, and none is posted until then.
   */
  private long stalledBytes;

  ReadPipeline(FetchConnection connection, LocateSender sender, WantedBlocks wanted) {
    this.connection = connection;
    this.shared = connection.shared;
    this.sends = connection.sends;
    this.sender = sender;
    this.wanted = wanted;
  }

  /**
   * Begins the READs of an answer.
   *
   * @param postUntilNs early enough for the READs to end before the lease
   */
  ReadBatch beginBatch(long leaseId, long postUntilNs, int blocks) {
    ReadBatch batch = spare == null ? new ReadBatch(blocks) : spare;
    spare = null;
    batch.begin(leaseId, postUntilNs);
    batches.add(batch);
    return batch;
  }

  /** Begins the READs of a batch, whose answer is complete: posts them as far as there is room. */
  void begin(ReadBatch batch, long nowNs) {
    if (batch.nextRead() >= 0) {
      unposted.add(batch);
    }
    if (!waitsForTurn) {
      postReads(false);
    }
    passOn(batch, nowNs);
  }

  /**
   * Posts READs as far as the send queue and {@link ReadLimit} have room.
   *
   * @param first whether it has its turn now: for one READ, if others wait, too
   * @return false when it must still wait for its turn
   */
  boolean postReads(boolean first) {
    if (connection.hasEnded() || stalledBytes > 0) {
      waitsForTurn = false;
      return true;
    }
    long nowNs = shared.work().nowNs();
    int posted = 0;
    boolean hasRoom = true;
    sends.lock();
    try {
      while (hasRoom && !unposted.isEmpty() && sends.room() > MESSAGE_ENTRIES) {
        ReadBatch batch = unposted.peek();
        int read = batch.nextRead();
        if (!sends.canGather()) {
          break;
        } else if (shared
            .readLimit()
            .tryTake(batch.lengthBytes(read), inFlightBytes, first && posted == 0)) {
          sends.addRead(batch, read, nowNs);
          batch.onPosted(nowNs);
          inFlightBytes += batch.lengthBytes(read);
          postedNs[readsPosted++ & MemoryShares.READER_SENDS - 1] = nowNs;
          posted++;
          if (batch.nextRead() < 0) {
            unposted.poll();
          }
        } else {
          hasRoom = false;
        }
      }
      sends.post();
    } finally {
      sends.unlock();
    }
    waitsForTurn = !hasRoom;
    if (waitsForTurn && !first) {
      shared.readLimit().await(this);
    }
    if (posted > 0) {
      shared.counters().add(Counter.RDMA_READS_POSTED, posted);
      shared.work().expectCompletion(nowNs);
    }
    return hasRoom;
  }

  /** The next READ of a batch has completed. */
  void onReadDone(ReadBatch batch, long nowNs) {
    readsDone++;
    int bytes = batch.onReadDone();
    if (stalledBytes > 0) {
      stalledBytes -= bytes;
    } else {
      giveBack(bytes);
    }
    if (batch.readsDone() == 1) {
      shared.counters().readLatency().record(nowNs - batch.postedNs());
    }
    passOn(batch, nowNs);
    if (!unposted.isEmpty() && !waitsForTurn) {
      postReads(false);
    }
  }

  /** Bytes of its READs that count as in flight. */
  long inFlightBytes() {
    return inFlightBytes;
  }

  private void giveBack(long bytes) {
    inFlightBytes -= bytes;
    shared.readLimit().giveBack(bytes);
  }

  /** Hands whole blocks to their requests, asks for the rest of others, and ends the batch. */
  private void passOn(ReadBatch batch, long nowNs) {
    if (batch.hasDoneReads() && batch.leaseId() != 0 && batches.contains(batch)) {
      // Before a task has its block: the memory of the lease serves its next LOCATE.
      sender.addLease(batch.leaseId(), nowNs);
    }
    boolean rest = false;
    BlockFetch block = batch.pollDone();
    while (block != null) {
      if (block.isSettled()) {
        if (block.memory() != null) {
          shared.counters().add(Counter.HEDGED_BYTES, block.locatedBytes());
        }
        block.freeMemory();
      } else if (block.isLocated()) {
        block.deliver();
      } else {
        wanted.askForRest(block, nowNs);
        rest = true;
      }
      block = batch.pollDone();
    }
    if (batch.isDone() && batches.remove(batch)) {
      batch.clear();
      spare = batch;
    }
    if (rest) {
      wanted.locate(nowNs);
    }
  }

  // Deadlines and the end.

  /** Adds the chunks of its blocks that are not passed on. */
  void addHeldChunks(Set<RegisteredChunk> to) {
    batches.forEach(batch -> batch.addHeldChunks(to));
  }

  /** Whether READs are open. */
  boolean isWorking() {
    return !batches.isEmpty();
  }

  /** READs that found no room in time are no fault of the peer: their blocks use TCP. */
  void endLate(long nowNs) {
    unposted.removeIf(batch -> endIfLate(batch, nowNs));
  }

  private boolean endIfLate(ReadBatch batch, long nowNs) {
    boolean late = nowNs - batch.postUntilNs() > 0;
    if (late) {
      batch.endPosting();
      passOn(batch, nowNs);
    }
    return late;
  }

  /** Time at which the oldest READ was posted that is not done; otherwise the other time. */
  long oldestNs(long otherNs) {
    return readsDone == readsPosted ? otherNs : postedNs[readsDone & MemoryShares.READER_SENDS - 1];
  }

  /**
   * Its blocks use TCP, but posted READs go on: their end shows that the peer has paused. They
   * count no longer as in flight.
   */
  void hedge(FallbackReason reason, String detail, long nowNs) {
    shared.readLimit().remove(this);
    waitsForTurn = false;
    unposted.clear();
    if (inFlightBytes > 0) {
      stalledBytes = inFlightBytes;
      giveBack(inFlightBytes);
    }
    for (ReadBatch batch : List.copyOf(batches)) {
      batch.leaveToTcp(reason, detail);
      batch.endPosting();
      passOn(batch, nowNs);
    }
  }

  /** Whether the oldest READ has not completed in this time. */
  boolean isOverdue(long nowNs, long timeoutNs) {
    return readsDone != readsPosted
        && nowNs - postedNs[readsDone & MemoryShares.READER_SENDS - 1] > timeoutNs;
  }

  /** The connection is broken: its blocks use TCP, and READs may still write their memory. */
  void leaveToTcp(FallbackReason reason, String detail) {
    unposted.clear();
    for (ReadBatch batch : batches) {
      batch.leaveToTcp(reason, detail);
    }
  }

  /** The queue pair is destroyed. */
  void onDestroyed() {
    shared.readLimit().remove(this);
    giveBack(inFlightBytes);
    batches.forEach(ReadBatch::freeMemory);
    batches.clear();
  }
}
