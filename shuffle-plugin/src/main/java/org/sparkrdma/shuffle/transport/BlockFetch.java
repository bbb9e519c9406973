// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import org.sparkrdma.shuffle.fetch.BlockRanges;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.FetchedBlock;
import org.sparkrdma.shuffle.fetch.FetchingTask;
import org.sparkrdma.shuffle.fetch.ReceiveMemory;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/**
 * One block that this executor reads. Confined to the agent, but for its creation and its first
 * LOCATE, which the task may send.
 *
 * <pre>
 *  WANTED ──LOCATE──► LOCATING ──LOCATED──► READING ──READs done──► ENDED (delivered)
 *    ▲ ▲ ▲              │    │                │
 *    │ │ └─ answer full, ─┘  │ no memory      │
 *    │ │    length told      │                │
 *    │ └────── memory ─── WAITING             │
 *    └──── it was left out, or its rest ──────┘
 *  any state but READING ──fault or time-out──► ENDED (by TCP)
 * </pre>
 *
 * <p>Each state has one container: {@link WantedBlocks}, the message of {@link LocateSender} that
 * names it, those that wait for memory ({@link ReceiveMemory} has those of all connections), its
 * {@link ReadBatch}. That has blocks that an answer leaves out, too: they are located again with
 * the release of its lease. A block that fails while it is read is settled, but it stays in its
 * batch until its READs are done or the queue pair is destroyed: they write its memory, unless none
 * of them was posted. In no other state can a READ do that.
 */
final class BlockFetch implements ReceiveMemory.Waiter {
  /** Where it is; see the class comment. */
  enum State {
    WANTED,
    LOCATING,
    WAITING,
    READING,
    ENDED
  }

  private final LocateAnswers answers;
  private final FetchRequest request;
  private final int index;
  private State state = State.WANTED;

  /** Whether it is delivered or left to TCP. */
  private boolean settled;

  private long blockBytes = -1;
  private long firstAskedNs;

  /** Bytes from the block's beginning that were located. */
  private long locatedBytes;

  /** Whether its checksums are computed: in all answers or in none, as they are of other ranges. */
  private boolean freshSums;

  /** Null before it has memory, and after that was handed on or released. */
  private FetchedBlock memory;

  /** Index of its first READ in its batch, or a smaller one. */
  private int firstRead;

  /** Index of its last READ in its batch. */
  private int lastRead;

  /** Time since which it is wanted. */
  private long sinceNs;

  /**
   * @param index in its request
   */
  BlockFetch(LocateAnswers answers, FetchRequest request, int index) {
    this.answers = answers;
    this.request = request;
    this.index = index;
  }

  /** The executor that has written it, as a LOCATE names it. */
  int owner() {
    return request.owner();
  }

  boolean isSettled() {
    return settled;
  }

  /** Adds it, or its rest, to a LOCATE. */
  void locate(Locate.Encoder locate, long nowNs) {
    if (locatedBytes == 0) {
      freshSums = request.needsFreshSums(index);
    }
    BlockRanges ranges = request.ranges();
    locate.block(
        ranges.shuffleId(index),
        ranges.mapId(index),
        ranges.startReduceId(index),
        ranges.endReduceId(index),
        locatedBytes,
        freshSums,
        lacksMemory());
    firstAskedNs = firstAskedNs == 0 ? nowNs : firstAskedNs;
    state = State.LOCATING;
  }

  State state() {
    return state;
  }

  /** It is to be located: now first, or its rest, or because an answer has left it out. */
  void onWanted(long nowNs) {
    state = State.WANTED;
    sinceNs = nowNs;
  }

  /** Time since its first LOCATE. */
  long ageNs(long nowNs) {
    return nowNs - firstAskedNs;
  }

  /** Time since which it is wanted. */
  long sinceNs() {
    return sinceNs;
  }

  /** Length of the whole block; negative before an extent was located. */
  @Override
  public long blockBytes() {
    return blockBytes;
  }

  long locatedBytes() {
    return locatedBytes;
  }

  /** Whether all of its bytes are located. */
  boolean isLocated() {
    return locatedBytes == blockBytes;
  }

  /** Memory of its bytes; null without. */
  FetchedBlock memory() {
    return memory;
  }

  /** It has memory for all of its bytes. */
  void setMemory(FetchedBlock forAll) {
    memory = forAll;
    answers.hold(blockBytes);
  }

  /** Adds READs of the extent at which an answer stands to the batch of the answer. */
  void addReads(Located.Decoder extent, ReadBatch batch) {
    beginReads(batch);
    int length = extent.lengthBytes();
    lastRead = batch.addReads(memory, extent.address(), extent.remoteKey(), locatedBytes, length);
    locatedBytes += length;
    memory.addCopied(extent.isCopied() ? length : 0);
    for (int i = 0; i < extent.sumCount(); i++) {
      memory.addSum(extent.checksumKind(), extent.sumEnd(i), extent.sum(i));
    }
  }

  /** Whether the answer that was taken has left it out, or its rest. */
  boolean isLeftOut() {
    return !settled && state != State.WAITING && state != State.WANTED && !isLocated();
  }

  /** It is located again, or its rest, when all READs of a batch are done. */
  void expectReads(ReadBatch batch) {
    beginReads(batch);
    lastRead = batch.addLast(this);
  }

  /** Joins a batch, unless it is in it already. */
  private void beginReads(ReadBatch batch) {
    if (state != State.READING) {
      state = State.READING;
      firstRead = batch.add(this);
    }
  }

  /** Whether it has no memory and would have to wait for it: it is not to be copied now. */
  boolean lacksMemory() {
    return memory == null && answers.lackMemory(reader());
  }

  /** The first extent says how long it is. */
  void setLength(long bytes) {
    blockBytes = bytes;
  }

  /** It waits until it has memory: it is located again then. */
  void onNoMemory() {
    state = State.WAITING;
  }

  @Override
  public void onGranted() {
    answers.hold(blockBytes);
  }

  @Override
  public void onMemory(FetchedBlock granted) {
    // Only this executor has kept it waiting.
    firstAskedNs = 0;
    state = State.WANTED;
    memory = granted;
    answers.onMemory(this);
  }

  @Override
  public FetchingTask reader() {
    return request.task();
  }

  @Override
  public boolean mayTake() {
    return answers.mayHold(blockBytes);
  }

  int firstRead() {
    return firstRead;
  }

  int lastRead() {
    return lastRead;
  }

  /** Its READs are done, and all of its bytes are there: hands it to the request. */
  void deliver() {
    FetchedBlock whole = memory;
    memory = null;
    answers.hold(-blockBytes);
    settled = true;
    state = State.ENDED;
    request.onFetched(index, whole);
  }

  /**
   * Settles it, so that TCP fetches it. If it is read, its memory stays until {@link #freeMemory}.
   */
  void leaveToTcp(FallbackReason reason, String detail) {
    if (!settled) {
      settled = true;
      if (state == State.WAITING) {
        answers.cancel(this);
      }
      if (state != State.READING) {
        freeMemory();
      }
      request.leaveToTcp(index, reason, detail);
    }
  }

  /** No READ writes its memory any more. */
  void freeMemory() {
    state = State.ENDED;
    if (memory != null) {
      answers.hold(-blockBytes);
      memory.release();
      memory = null;
    }
  }
}
