// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * State of one block of a {@link BlockFetch}. Owned by the agent until it passes it to {@link
 * Delivery}. Delivery passes it back when the next piece must be fetched.
 */
public final class BlockProgress {
  private static final long UNKNOWN = -1;
  private static final int MAX_WAITS_FOR_ROOM = 100;
  private static final int MAX_SMALL_PROGRESS = 100;

  private final BlockFetch fetch;
  private final int index;
  private final BlockRange range;
  private final PartitionSums sums = new PartitionSums();
  private final List<Segment> segments = new ArrayList<>();
  private long bytesRead;
  private long blockBytes = UNKNOWN;
  private int checksumKind;
  private boolean asked;
  private boolean freshSums;
  private boolean reissued;
  private int waitsForRoom;
  private int smallProgress;
  private DiskBlock disk;
  private ReceiveMemory.Reservation reservation;
  private boolean waiting;
  private long waitingSinceNs;

  BlockProgress(BlockFetch fetch, int index, BlockRange range) {
    this.fetch = fetch;
    this.index = index;
    this.range = range;
  }

  public BlockFetch fetch() {
    return fetch;
  }

  int index() {
    return index;
  }

  public BlockRange range() {
    return range;
  }

  PartitionSums sums() {
    return sums;
  }

  /**
   * Decides at the first request whether the server computes the checksums, and returns that
   * decision ever after: checksums of both kinds in one block would not fit each other.
   */
  public boolean decideFreshSums(Predicate<BlockRange> unusable) {
    if (!asked) {
      asked = true;
      freshSums = unusable.test(range);
    }
    return freshSums;
  }

  /** Data that was read and not yet written to disk. */
  List<Segment> segments() {
    return segments;
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

  /** Its file; null before the first piece. */
  DiskBlock disk() {
    return disk;
  }

  void disk(DiskBlock opened) {
    disk = opened;
  }

  /** Sets length and checksum kind from a LOCATED; false when they differ from an earlier one. */
  public boolean learn(long length, int kind) {
    if (blockBytes == UNKNOWN) {
      blockBytes = length;
      checksumKind = kind;
    }
    return blockBytes == length && checksumKind == kind;
  }

  /** Bytes of memory that its next READs need, after {@link #learn}. */
  public long neededBytes(ReceiveMemory memory) {
    long rest = blockBytes - bytesRead;
    return toDisk() ? Math.min(rest, memory.diskPartBytes()) : rest;
  }

  /** Reserves memory for its next READs, unless it has some; false when it must wait. */
  public boolean tryReserve(ReceiveMemory memory) {
    if (reservation == null) {
      reservation = memory.tryReserve(fetch.handler().reader(), neededBytes(memory)).orElse(null);
    }
    return reservation != null;
  }

  /** Memory for its READs; null when it has none. */
  public ReceiveMemory.Reservation reservation() {
    return reservation;
  }

  /** Closes its reservation. Data that was read keeps its memory. */
  public void cancelReservation() {
    if (reservation != null) {
      reservation.close();
      reservation = null;
    }
  }

  /** Begins the wait for receive memory, or continues one in which nothing was read. */
  public void startWaiting(long nowNs) {
    if (!waiting) {
      waiting = true;
      waitingSinceNs = nowNs;
    }
  }

  /** Duration of its wait for receive memory. */
  public long waitedNs(long nowNs) {
    return waiting ? nowNs - waitingSinceNs : 0;
  }

  /** Adds the bytes of a finished part. */
  public void commit(ReadBatch.Part part) {
    waiting &= part.bytes() == 0;
    segments.addAll(part.segments());
    bytesRead += part.bytes();
    for (int i = 0; i < part.sums().count(); i++) {
      sums.add(part.sums().end(i), part.sums().sum(i));
    }
  }

  public boolean isComplete() {
    return isCompleteWith(0);
  }

  /** Whether it is complete once {@code moreBytes} are committed. */
  boolean isCompleteWith(long moreBytes) {
    return bytesRead + moreBytes == blockBytes;
  }

  /**
   * Uses its one reissue after its connection broke.
   *
   * @return false when it was used before; the block is then not requested again
   */
  public boolean tryUseReissue() {
    boolean first = !reissued;
    reissued = true;
    return first;
  }

  /**
   * Uses one wait for room at the peer.
   *
   * @return false when all are used; the block is then not requested again
   */
  public boolean tryUseWait() {
    return ++waitsForRoom <= MAX_WAITS_FOR_ROOM;
  }

  /**
   * Counts an answer with little data. Correct servers send such answers at the ends of windows,
   * and where the checksums of many small partitions fill a message.
   *
   * @return false when all are used
   */
  public boolean tryUseSmallProgress() {
    int partitions = range.endReduceId() - range.startReduceId();
    return ++smallProgress <= MAX_SMALL_PROGRESS + partitions;
  }

  /** Moves its memory into a {@link FetchedBlock}. */
  FetchedBlock toFetchedBlock() {
    Optional<FetchedBlock> copy =
        reservation == null ? Optional.empty() : reservation.tryCopy(segments);
    FetchedBlock fetched = copy.orElseGet(() -> new FetchedBlock(segments));
    segments.clear();
    cancelReservation();
    return fetched;
  }

  /** Claims its one answer; false when it was answered before. */
  boolean claimAnswer() {
    return fetch.claimAnswer(index);
  }

  /** Releases its memory. */
  void releaseSegments() {
    segments.forEach(segment -> segment.chunk().release());
    segments.clear();
    cancelReservation();
  }
}
