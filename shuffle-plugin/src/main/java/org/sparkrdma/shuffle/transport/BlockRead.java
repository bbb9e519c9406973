// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.FetchedBlock;
import org.sparkrdma.shuffle.fetch.SinkPool;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Located;

/**
 * One block that this executor reads. Confined to the agent, but for its creation and its first
 * LOCATE, which the task may send.
 *
 * <pre>
 *  WANTED ──LOCATE──► LOCATING ──LOCATED──► READING ──READs done──► SETTLED
 *    ▲ ▲ ▲              │    │                │
 *    │ │ └── left out ──┘    │ no memory      │
 *    │ └────── memory ─── WAITING             │
 *    └───────── rest of a long block ─────────┘
 *  any state ──fault or time-out──► SETTLED (by TCP)
 * </pre>
 */
final class BlockRead implements SinkPool.Waiter {
  private enum State {
    WANTED,
    LOCATING,
    WAITING,
    READING,
    SETTLED
  }

  private final LocateExchange exchange;
  private final FetchRequest request;
  private final int index;
  private State state = State.WANTED;
  private long blockBytes = -1;
  private long firstAskedNs;

  /** Bytes from the block's beginning that were located. */
  private long locatedBytes;

  /** Null before it has memory, and after that was handed on or released. */
  private FetchedBlock memory;

  /** Index of its last READ in the batch of its last answer. */
  private int lastRead;

  /** Time since which it is wanted, or waits for memory. */
  private long sinceNs;

  /**
   * @param index in its request
   */
  BlockRead(LocateExchange exchange, FetchRequest request, int index) {
    this.exchange = exchange;
    this.request = request;
    this.index = index;
  }

  FetchRequest request() {
    return request;
  }

  /** Index in its request. */
  int index() {
    return index;
  }

  boolean isSettled() {
    return state == State.SETTLED;
  }

  /** A LOCATE names it. */
  void onAsked(long nowNs) {
    if (firstAskedNs == 0) {
      firstAskedNs = nowNs;
    }
    state = State.LOCATING;
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

  @Override
  public long sinceNs() {
    return sinceNs;
  }

  /** Length of the whole block; negative before a piece was located. */
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

  /** The first piece says how long it is, and it has memory for all of its bytes. */
  void setMemory(FetchedBlock forAll, long bytes) {
    memory = forAll;
    blockBytes = bytes;
  }

  /** Adds READs of the piece at which an answer stands to the batch of the answer. */
  void read(Located.Decoder piece, ReadBatch batch) {
    state = State.READING;
    int length = piece.lengthBytes();
    batch.read(memory, piece.address(), piece.remoteKey(), locatedBytes, length);
    locatedBytes += length;
    memory.addCopied(piece.isCopied() ? length : 0);
    for (int i = 0; i < piece.sumCount(); i++) {
      memory.addSum(piece.checksumKind(), piece.sumEnd(i), piece.sum(i));
    }
  }

  /** No more pieces of it are in the answer of a batch, to which all of its READs were added. */
  void endAnswer(ReadBatch batch) {
    lastRead = batch.add(this);
  }

  /** It waits until it has memory: it is located again then. */
  void await(long bytes, long nowNs) {
    blockBytes = bytes;
    sinceNs = nowNs;
    state = State.WAITING;
  }

  /** Whether it waits for memory. */
  boolean waitsForMemory() {
    return state == State.WAITING;
  }

  @Override
  public void onMemory(FetchedBlock granted) {
    memory = granted;
    exchange.onMemory(this);
  }

  int lastRead() {
    return lastRead;
  }

  /** Hands the whole block to the request. */
  void deliver() {
    FetchedBlock whole = memory;
    memory = null;
    state = State.SETTLED;
    request.onFetched(index, whole);
  }

  /**
   * Sends the block to TCP, unless it is settled. Its memory stays until {@link #releaseMemory},
   * because READs may still write it.
   */
  void fail(FallbackReason reason, String detail) {
    if (state != State.SETTLED) {
      state = State.SETTLED;
      request.onFailed(index, reason, detail);
    }
  }

  /** No READ writes its memory any more. */
  void releaseMemory() {
    if (memory != null) {
      memory.release();
      memory = null;
    }
  }
}
