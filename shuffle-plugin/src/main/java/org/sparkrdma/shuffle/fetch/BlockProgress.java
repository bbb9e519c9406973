// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

/**
 * State of one block of a {@link BlockFetch}. Owned by the agent until it passes it to {@link
 * Delivery}. Delivery passes it back when the next piece must be fetched.
 */
public final class BlockProgress extends Reservation {
  private static final long UNKNOWN = -1;
  private static final int MAX_WAITS_FOR_ROOM = 100;
  private static final int MAX_SMALL_PROGRESS = 100;

  /** A test of a peer reads at most this of a block: more than a packet of any network. */
  private static final int TEST_BYTES = 64 << 10;

  private static final byte UNDECIDED = 0;
  private static final byte RECORDED_SUMS = 1;
  private static final byte FRESH_SUMS = 2;

  private final BlockFetch fetch;
  private final int index;

  /** Null before the first checksum. */
  private PartitionChecksums sums;

  /** Null for nearly all blocks; exists from the beginning for those that are written to disk. */
  private RareState rare;

  private long blockBytes = UNKNOWN;
  private long bytesRead;

  /** Bytes of the part that is being read, after those that have been read. */
  private long partBytes;

  /** Whether the rest of the block is left for another LOCATE. */
  private boolean partCutOff;

  private byte checksumKind;
  private byte requestedSums = UNDECIDED;

  BlockProgress(BlockFetch fetch, int index) {
    this.fetch = fetch;
    this.index = index;
    if (toDisk()) {
      rare().disk = new DiskBlock(fetch.files());
    }
  }

  public BlockFetch fetch() {
    return fetch;
  }

  int index() {
    return index;
  }

  /** A new object, for log lines and what is rare. */
  public BlockRange range() {
    return fetch.ranges().get(index);
  }

  /** The shuffle of its {@link BlockRange}; the next three methods also return parts of that. */
  public int shuffleId() {
    return fetch.ranges().shuffleId(index);
  }

  public long mapId() {
    return fetch.ranges().mapId(index);
  }

  public int startReduceId() {
    return fetch.ranges().startReduceId(index);
  }

  public int endReduceId() {
    return fetch.ranges().endReduceId(index);
  }

  /** Checksums of its partitions. */
  PartitionChecksums sums() {
    if (sums == null) {
      sums = new PartitionChecksums();
    }
    return sums;
  }

  private RareState rare() {
    if (rare == null) {
      rare = new RareState();
    }
    return rare;
  }

  /**
   * Decides at the first request whether the server computes the checksums, and returns that
   * decision ever after: checksums of both kinds in one block would not fit each other.
   */
  public boolean decideFreshSums(Delivery delivery) {
    if (requestedSums == UNDECIDED) {
      boolean unusable = delivery.areSumsUnusable(shuffleId(), mapId());
      requestedSums = unusable ? FRESH_SUMS : RECORDED_SUMS;
    }
    return requestedSums == FRESH_SUMS;
  }

  /** Bytes of the block that have been read. */
  public long bytesRead() {
    return bytesRead;
  }

  int checksumKind() {
    return checksumKind;
  }

  /** Whether it is written to disk. */
  public boolean toDisk() {
    return fetch.files() != null;
  }

  /** Whether it only tests its peer: its first bytes are read and dropped. */
  public boolean isTest() {
    return fetch.isTest();
  }

  /** Its file; null unless it is written to disk. Any thread. */
  DiskBlock disk() {
    return rare == null ? null : rare.disk;
  }

  /** Sets length and checksum kind from a LOCATED; false when they differ from an earlier one. */
  public boolean acceptLayout(long length, int kind) {
    if (blockBytes == UNKNOWN) {
      blockBytes = length;
      checksumKind = (byte) kind;
    }
    return blockBytes == length && checksumKind == kind;
  }

  /** Bytes of memory that its next READs need, after {@link #acceptLayout}. */
  public long neededBytes(ReceiveMemory memory) {
    long rest = blockBytes - bytesRead;
    if (isTest()) {
      return Math.min(rest, TEST_BYTES);
    }
    return toDisk() ? Math.min(rest, memory.diskPartBytes()) : rest;
  }

  /** The task that reads it. */
  public long reader() {
    return fetch.handler().reader();
  }

  public boolean hasReservation() {
    return isReserved();
  }

  /** Reserves memory for its next READs, unless it has some; false when it must wait. */
  public boolean tryReserve(ReceiveMemory receive) {
    return isReserved() || receive.tryReserve(this, reader(), neededBytes(receive), !toDisk());
  }

  /**
   * Places a sink for its next bytes; it has memory reserved. The chunk and the end of the sink are
   * those of {@link ReceiveMemory#sinkChunk} and {@link ReceiveMemory#sinkEnd}.
   *
   * @param maxBytes more than 0
   * @return length of the sink; 0 when no more fits, and the rest is left for another LOCATE
   */
  public int addSink(ReceiveMemory receive, int maxBytes) {
    int placed = receive.addSink(this, maxBytes);
    if (placed == 0) {
      partCutOff = true;
      if (unplacedBytes > 0) {
        // Windows have taken the memory of the reservation, or the device refuses it.
        cancelReservation();
      }
    }
    partBytes += placed;
    return placed;
  }

  /** Closes its reservation. Data that was read keeps its memory. */
  public void cancelReservation() {
    endReservation();
  }

  /** Begins the wait for receive memory, or continues one in which nothing was read. */
  public void startWaiting(long nowNs) {
    if (!rare().waiting) {
      rare.waiting = true;
      rare.waitingSinceNs = nowNs;
    }
  }

  /** Duration of its wait for receive memory. */
  public long waitedNs(long nowNs) {
    return rare != null && rare.waiting ? nowNs - rare.waitingSinceNs : 0;
  }

  /** Bytes of the part that is being read. */
  public long partBytes() {
    return partBytes;
  }

  /** Adds bytes of the part that come from the server's copy pool. */
  public void addPartCopied(long bytes) {
    rare().partCopiedBytes += bytes;
  }

  /** Number of bytes read so far that come from the server's copy pool. */
  long copiedBytes() {
    return rare == null ? 0 : rare.copiedBytes;
  }

  /** The rest of the block is left for another LOCATE. */
  public void cutOffPart() {
    partCutOff = true;
  }

  /** Whether the rest of the block is left for another LOCATE. */
  public boolean isPartCutOff() {
    return partCutOff;
  }

  /** Whether the block is complete once the part is committed. */
  public boolean isCompleteWithPart() {
    return bytesRead + partBytes == blockBytes;
  }

  /** Adds the checksum of a partition that ends in the part at offset {@code end} of the block. */
  public void addSum(long end, long sum) {
    sums().add(end, sum);
  }

  /**
   * The READs of the part have completed.
   *
   * @return number of its bytes
   */
  public long commitPart() {
    long committed = partBytes;
    bytesRead += committed;
    partBytes = 0;
    partCutOff = false;
    if (rare != null) {
      rare.waiting &= committed == 0;
      rare.copiedBytes += rare.partCopiedBytes;
      rare.partCopiedBytes = 0;
    }
    return committed;
  }

  /** Releases the memory of the part, which no READ writes any more, and its reservation. */
  public void abandonPart() {
    if (memory() != null) {
      memory().releaseLast(partBytes);
    }
    endReservation();
    if (sums != null) {
      sums.removeAfter(bytesRead);
    }
    partBytes = 0;
    partCutOff = false;
    if (rare != null) {
      rare.waiting = false;
      rare.partCopiedBytes = 0;
    }
  }

  public boolean isComplete() {
    return bytesRead == blockBytes;
  }

  /** The READs of a test have completed, or it needed none: releases its memory. */
  public void endTest() {
    releaseMemory();
    claimAnswer();
  }

  /**
   * Uses its one reissue after its connection broke; a test has none.
   *
   * @return false when it was used before; the block is then not requested again
   */
  public boolean tryUseReissue() {
    boolean first = !rare().reissued && !isTest();
    rare.reissued = true;
    return first;
  }

  /**
   * Uses one wait for room at the peer.
   *
   * @return false when all are used; the block is then not requested again
   */
  public boolean tryUseWait() {
    return ++rare().waitsForRoom <= MAX_WAITS_FOR_ROOM;
  }

  /**
   * Counts an answer with little data. Correct servers send such answers at the ends of windows,
   * and where the checksums of many small partitions fill a message.
   *
   * @return false when all are used
   */
  public boolean tryUseSmallProgress() {
    int partitions = endReduceId() - startReduceId();
    return ++rare().smallProgress <= MAX_SMALL_PROGRESS + partitions;
  }

  /**
   * Adds time that the peer has taken for an answer that did not complete the block: none of it
   * twice, and none before the block was requested.
   */
  public void addPeerTime(long fromNs, long untilNs) {
    RareState all = rare();
    long countedNs = all.peerTimed ? all.peerUntilNs : fetch.begunNs();
    long beginNs = countedNs - fromNs > 0 ? countedNs : fromNs;
    if (untilNs - beginNs > 0) {
      all.peerNs += untilNs - beginNs;
      all.peerUntilNs = untilNs;
      all.peerTimed = true;
    }
  }

  /** Time that the peer has taken for answers that did not complete the block. */
  public long peerNs() {
    return rare == null ? 0 : rare.peerNs;
  }

  /** Whether its answer was claimed. */
  boolean isAnswered() {
    return fetch.isAnswered(index);
  }

  /** Claims its one answer; false when it was answered before. */
  boolean claimAnswer() {
    return fetch.claimAnswer(index);
  }
}
