// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.link;

import java.util.Arrays;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * One block that this executor reads. Confined to the agent, but for its creation and its first
 * LOCATE, which the task may send.
 *
 * <pre>
 *  WANTED ──LOCATE──► LOCATING ──LOCATED──► READING ──READs done──► SETTLED
 *    ▲                  │ left out            │  ▲ memory
 *    ├──────────────────┘                     ▼  │
 *    └───────── rest of a long block ───── WAITING (for memory)
 *  any state ──fault or time-out──► SETTLED (by TCP)
 * </pre>
 */
final class BlockRead {
  /** State of a block. */
  enum State {
    WANTED,
    LOCATING,
    WAITING,
    READING,
    SETTLED
  }

  private static final int PIECE_FIELDS = 3;

  private final BlockFetch fetch;
  private final int index;
  private State state = State.WANTED;
  private long blockBytes = -1;
  private long firstAskedNs;

  /** Bytes from the block's beginning that have a READ or a place in {@link #pieces}. */
  private long locatedBytes;

  private ReceivedBlock memory;
  private ReadBatch batch;

  /** Index in the batch of its last READ. */
  private int lastRead;

  /** Time since which it is wanted, or waits for memory. */
  private long sinceNs;

  /** Address, key and length of the pieces that wait for memory. */
  private long[] pieces;

  private int pieceCount;

  BlockRead(BlockFetch fetch, int index) {
    this.fetch = fetch;
    this.index = index;
  }

  BlockFetch fetch() {
    return fetch;
  }

  /** Index in its request. */
  int index() {
    return index;
  }

  boolean isSettled() {
    return state == State.SETTLED;
  }

  boolean waitsForMemory() {
    return state == State.WAITING;
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

  /** Length of the whole block; negative before a piece was located. */
  long blockBytes() {
    return blockBytes;
  }

  long locatedBytes() {
    return locatedBytes;
  }

  /** Whether all of its bytes are located. */
  boolean isLocated() {
    return locatedBytes == blockBytes;
  }

  void addLocated(long bytes) {
    locatedBytes += bytes;
  }

  ReceivedBlock memory() {
    return memory;
  }

  /** The first piece says how long it is. */
  void setLength(long bytes) {
    blockBytes = bytes;
    memory = new ReceivedBlock(bytes);
  }

  ReadBatch batch() {
    return batch;
  }

  /** Its pieces belong to a batch; it has memory. */
  void beginReading(ReadBatch ofAnswer) {
    batch = ofAnswer;
    state = State.READING;
  }

  int lastRead() {
    return lastRead;
  }

  void setLastRead(int read) {
    lastRead = read;
  }

  /** It waits for memory with its pieces, which belong to a batch. */
  void await(ReadBatch ofAnswer, long nowNs) {
    batch = ofAnswer;
    sinceNs = nowNs;
    state = State.WAITING;
  }

  /** Time since which it is wanted, or waits for memory. */
  long sinceNs() {
    return sinceNs;
  }

  void addPiece(long address, long key, int lengthBytes) {
    int at = PIECE_FIELDS * pieceCount;
    if (pieces == null || at == pieces.length) {
      pieces = pieces == null ? new long[PIECE_FIELDS] : Arrays.copyOf(pieces, 2 * pieces.length);
    }
    pieces[at] = address;
    pieces[at + 1] = key;
    pieces[at + 2] = lengthBytes;
    pieceCount++;
  }

  /** It has memory now: adds the READs of the pieces that waited to its batch. */
  void readPieces() {
    state = State.READING;
    long offset = locatedBytes;
    for (int i = 0; i < pieceCount; i++) {
      offset -= pieces[PIECE_FIELDS * i + 2];
    }
    for (int i = 0; i < pieceCount; i++) {
      int length = (int) pieces[PIECE_FIELDS * i + 2];
      batch.read(this, pieces[PIECE_FIELDS * i], pieces[PIECE_FIELDS * i + 1], offset, length);
      offset += length;
    }
    pieces = null;
    pieceCount = 0;
    batch.add(this);
  }

  /** Hands the whole block to the request. */
  void deliver() {
    ReceivedBlock whole = memory;
    memory = null;
    state = State.SETTLED;
    fetch.request().onRead(index, whole);
    fetch.onSettled();
  }

  /**
   * Sends the block to TCP, unless it is settled. Its memory stays until {@link #releaseMemory},
   * because READs may still write it.
   */
  void fail(FallbackReason reason, String detail) {
    if (state != State.SETTLED) {
      state = State.SETTLED;
      fetch.request().onFailed(index, reason, detail);
      fetch.onSettled();
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
