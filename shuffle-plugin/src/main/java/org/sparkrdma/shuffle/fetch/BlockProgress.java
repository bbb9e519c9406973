// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * How far one block of a {@link BlockFetch} has come. Owned by the agent until it is handed to
 * {@link Delivery}, which then owns it, for good or until it hands it back to have the next piece
 * fetched.
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
   * Whether the server is to sum it up itself, decided when it is first asked for: sums of both
   * kinds in one block would not fit each other.
   */
  public boolean freshSums(Predicate<BlockRange> unusable) {
    if (!asked) {
      asked = true;
      freshSums = unusable.test(range);
    }
    return freshSums;
  }

  /** What has been read and not been written to disk. */
  List<Segment> segments() {
    return segments;
  }

  /** How many bytes of the block have been read. */
  public long bytesRead() {
    return bytesRead;
  }

  int checksumKind() {
    return checksumKind;
  }

  /** Whether it is to be written to disk. */
  public boolean toDisk() {
    return fetch.files() != null;
  }

  /** The file it is written to; null before the first piece. */
  DiskBlock disk() {
    return disk;
  }

  void disk(DiskBlock opened) {
    disk = opened;
  }

  /** Takes what a LOCATED says of the whole block; false when it contradicts an earlier one. */
  public boolean learn(long length, int kind) {
    if (blockBytes == UNKNOWN) {
      blockBytes = length;
      checksumKind = kind;
    }
    return blockBytes == length && checksumKind == kind;
  }

  /** Whether an answer has told its length. */
  public boolean isLengthKnown() {
    return blockBytes != UNKNOWN;
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

  /** Gives its reservation back. What was read keeps its memory. */
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

  /** Takes the bytes of a finished part. */
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
   * @return false when it was used before; the block is then not asked for again
   */
  public boolean tryUseReissue() {
    boolean first = !reissued;
    reissued = true;
    return first;
  }

  /**
   * Uses one wait for room at the peer.
   *
   * @return false when all are used; the block is then not asked for again
   */
  public boolean tryUseWait() {
    return ++waitsForRoom <= MAX_WAITS_FOR_ROOM;
  }

  /**
   * Uses one of the answers that may bring only little of it. Honest servers give such answers at
   * the ends of windows, and where the checksums of many small partitions fill a message.
   *
   * @return false when all are used
   */
  public boolean tryUseSmallProgress() {
    int partitions = range.endReduceId() - range.startReduceId();
    return ++smallProgress <= MAX_SMALL_PROGRESS + partitions;
  }

  /** Hands the memory it holds over to a {@link FetchedBlock}. */
  FetchedBlock toFetchedBlock() {
    Optional<FetchedBlock> copy =
        reservation == null ? Optional.empty() : reservation.tryCopy(segments);
    FetchedBlock fetched = copy.orElseGet(() -> new FetchedBlock(segments));
    segments.clear();
    cancelReservation();
    return fetched;
  }

  /** Claims its one answer; false when it has been answered. */
  boolean claimAnswer() {
    return fetch.claimAnswer(index);
  }

  /** Gives back the memory it holds. */
  void releaseSegments() {
    segments.forEach(segment -> segment.chunk().release());
    segments.clear();
    cancelReservation();
  }
}
