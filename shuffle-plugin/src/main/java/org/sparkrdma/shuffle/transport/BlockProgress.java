// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.FetchedBlock;
import org.sparkrdma.shuffle.fetch.PartitionChecksums;
import org.sparkrdma.shuffle.fetch.ReceivePool;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * State of one block of a {@link FetchRequest} while it is fetched. It has memory for all of its
 * bytes, or none. Owned by the agent.
 */
final class BlockProgress extends ReceivePool.Waiter {
  private static final long UNKNOWN = -1;
  private static final int MAX_WAITS_FOR_ROOM = 100;
  private static final int MAX_SMALL_PROGRESS = 100;

  /** A test of a peer reads at most this of a block: more than a packet of any network. */
  private static final int TEST_BYTES = 64 << 10;

  private static final byte UNDECIDED = 0;
  private static final byte RECORDED_SUMS = 1;
  private static final byte FRESH_SUMS = 2;

  private final FetchRequest request;
  private final int index;
  private final boolean test;

  /** Time at which the agent began to fetch the request. */
  private final long begunNs;

  /** Null before it has memory. */
  private FetchedBlock memory;

  /** Null before the first checksum. */
  private PartitionChecksums sums;

  /** Waiter for memory; null when it does not wait. */
  private FetchSide waitsAt;

  /** Null for nearly all blocks. */
  private PeerTime peerTime;

  private long blockBytes = UNKNOWN;
  private long bytesRead;

  /** Bytes of the part that is being read, after those that have been read. */
  private long partBytes;

  /** Whether the rest of the block is left for another LOCATE. */
  private boolean partCutOff;

  private byte checksumKind;
  private byte requestedSums = UNDECIDED;
  private boolean reissued;
  private int waitsForRoom;
  private int smallProgress;

  /** Time that the peer has taken for answers and READs that did not complete the block. */
  private static final class PeerTime {
    long ns;

    /** Time at which the last one ended. */
    long untilNs;
  }

  /**
   * @param test whether it only tests its peer: its first bytes are read and dropped
   */
  BlockProgress(FetchRequest request, int index, boolean test, long begunNs) {
    this.request = request;
    this.index = index;
    this.test = test;
    this.begunNs = begunNs;
  }

  /** A test of its peer by the first bytes of this block, which are read and dropped. */
  BlockProgress test(long nowNs) {
    return new BlockProgress(request, index, true, nowNs);
  }

  FetchRequest request() {
    return request;
  }

  /** A new object, for log lines and what is rare. */
  BlockRange range() {
    return request.ranges().get(index);
  }

  /** The shuffle of its {@link BlockRange}; the next three methods also return parts of that. */
  int shuffleId() {
    return request.ranges().shuffleId(index);
  }

  long mapId() {
    return request.ranges().mapId(index);
  }

  int startReduceId() {
    return request.ranges().startReduceId(index);
  }

  int endReduceId() {
    return request.ranges().endReduceId(index);
  }

  /**
   * Decides at the first LOCATE whether the server computes the checksums, and returns that
   * decision ever after: checksums of both kinds in one block would not fit each other.
   */
  boolean decideFreshSums() {
    if (requestedSums == UNDECIDED) {
      requestedSums = request.needsFreshSums(index) ? FRESH_SUMS : RECORDED_SUMS;
    }
    return requestedSums == FRESH_SUMS;
  }

  /** Bytes of the block that have been read. */
  long bytesRead() {
    return bytesRead;
  }

  boolean isTest() {
    return test;
  }

  /** Sets length and checksum kind from a LOCATED; false when they differ from an earlier one. */
  boolean acceptLayout(long length, int kind) {
    if (blockBytes == UNKNOWN) {
      blockBytes = length;
      checksumKind = (byte) kind;
    }
    return blockBytes == length && checksumKind == kind;
  }

  /** Bytes of memory that it needs, after {@link #acceptLayout}. */
  long neededBytes() {
    return test ? Math.min(blockBytes, TEST_BYTES) : blockBytes;
  }

  /** Takes memory, unless it has some; false when it must wait. */
  boolean tryTakeMemory(ReceivePool receive) {
    if (memory == null) {
      memory = receive.tryTake(neededBytes());
    }
    return memory != null;
  }

  /** Waits for memory; {@code side} gets it back then, or is notified of its failure. */
  void awaitMemory(ReceivePool receive, FetchSide side, long nowNs) {
    waitsAt = side;
    receive.await(this, neededBytes(), nowNs);
  }

  /** Its connection ends. */
  void cancelWait(ReceivePool receive) {
    waitsAt = null;
    receive.cancel(this);
  }

  @Override
  protected void onMemory(FetchedBlock taken) {
    FetchSide side = waitsAt;
    waitsAt = null;
    memory = taken;
    side.onMemory(this);
  }

  @Override
  protected void onTimeout() {
    FetchSide side = waitsAt;
    waitsAt = null;
    side.onNoMemory(this);
    fail(FallbackReason.POOL_EMPTY, "no receive memory for too long");
  }

  /**
   * Places a sink for its next bytes in its memory: {@link #sinkChunk}, {@link #sinkOffset}.
   *
   * @param maxBytes more than 0
   * @return length of the sink; 0 when no more fits, and the rest is left for another LOCATE
   */
  int addSink(int maxBytes) {
    long position = bytesRead + partBytes;
    if (position == neededBytes()) {
      partCutOff = true;
      return 0;
    }
    int placed = Math.min(memory.seek(position), maxBytes);
    partBytes += placed;
    return placed;
  }

  /** Chunk of the sink that was placed last. */
  RegisteredChunk sinkChunk() {
    return memory.soughtChunk();
  }

  /** Offset of that sink in its chunk. */
  int sinkOffset() {
    return memory.soughtOffset();
  }

  /** Bytes of the part that is being read. */
  long partBytes() {
    return partBytes;
  }

  /** Adds bytes that come from the server's copy pool. */
  void addCopied(long bytes) {
    memory.addCopied(bytes);
  }

  /** The rest of the block is left for another LOCATE. */
  void cutOffPart() {
    partCutOff = true;
  }

  /** Whether the rest of the block is left for another LOCATE. */
  boolean isPartCutOff() {
    return partCutOff;
  }

  /** Whether the block is complete once the part is committed. */
  boolean isCompleteWithPart() {
    return bytesRead + partBytes == blockBytes;
  }

  /** Adds the checksum of a partition that ends in the part at offset {@code end} of the block. */
  void addSum(long end, long sum) {
    if (sums == null) {
      sums = new PartitionChecksums();
    }
    sums.add(end, sum);
  }

  /** The READs of the part have completed. */
  void commitPart() {
    bytesRead += partBytes;
    partBytes = 0;
    partCutOff = false;
  }

  boolean isComplete() {
    return bytesRead == blockBytes;
  }

  /** Releases its memory, which no READ writes any more: the block begins anew. */
  void abandon() {
    FetchedBlock released = memory;
    memory = null;
    sums = null;
    bytesRead = 0;
    partBytes = 0;
    partCutOff = false;
    if (released != null) {
      released.release();
    }
  }

  /** Delivers it to Spark; it is complete. */
  void deliver() {
    FetchedBlock whole = memory == null ? FetchedBlock.empty() : memory;
    memory = null;
    if (sums != null) {
      whole.checksums(checksumKind, sums);
    }
    request.onFetched(index, whole);
  }

  /** Releases its memory and hands it to TCP. */
  void fail(FallbackReason reason, String detail) {
    abandon();
    failBeforeRelease(reason, detail);
  }

  /** Hands it to TCP. Its memory stays, because READs may still write: {@link #abandon} follows. */
  void failBeforeRelease(FallbackReason reason, String detail) {
    if (!test) {
      request.onFailed(index, reason, detail);
    }
  }

  /**
   * Uses its one reissue after its connection broke; a test has none.
   *
   * @return false when it was used before; the block is then not requested again
   */
  boolean tryUseReissue() {
    boolean first = !reissued && !test;
    reissued = true;
    return first;
  }

  /**
   * Uses one wait for room at the peer.
   *
   * @return false when all are used; the block is then not requested again
   */
  boolean tryUseWait() {
    return ++waitsForRoom <= MAX_WAITS_FOR_ROOM;
  }

  /**
   * Counts an answer with little data. Correct servers send such answers at the ends of windows,
   * and where the checksums of many small partitions fill a message.
   *
   * @return false when all are used
   */
  boolean tryUseSmallProgress() {
    int partitions = endReduceId() - startReduceId();
    return ++smallProgress <= MAX_SMALL_PROGRESS + partitions;
  }

  /**
   * Adds time that the peer has taken for an answer that did not complete the block: none of it
   * twice, and none before the block was requested.
   */
  void addPeerTime(long fromNs, long untilNs) {
    long countedNs = peerTime == null ? begunNs : peerTime.untilNs;
    long beginNs = countedNs - fromNs > 0 ? countedNs : fromNs;
    if (untilNs - beginNs > 0) {
      if (peerTime == null) {
        peerTime = new PeerTime();
      }
      peerTime.ns += untilNs - beginNs;
      peerTime.untilNs = untilNs;
    }
  }

  /** Time that the peer has taken for answers that did not complete the block. */
  long peerNs() {
    return peerTime == null ? 0 : peerTime.ns;
  }
}
