// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.Arrays;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.FetchedBlock;
import org.sparkrdma.shuffle.fetch.PartitionChecksums;
import org.sparkrdma.shuffle.fetch.ReceivePool;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Located;

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
final class BlockRead extends ReceivePool.Waiter {
  private enum State {
    WANTED,
    LOCATING,
    WAITING,
    READING,
    SETTLED
  }

  /** Located pieces of one block: their addresses, keys and lengths. */
  static final class Pieces {
    private static final int FIELDS = 3;

    private long[] fields;
    private int count;

    Pieces(int room) {
      fields = new long[FIELDS * room];
    }

    private void add(long address, long key, int lengthBytes) {
      int at = FIELDS * count;
      if (at == fields.length) {
        fields = Arrays.copyOf(fields, 2 * at);
      }
      fields[at] = address;
      fields[at + 1] = key;
      fields[at + 2] = lengthBytes;
      count++;
    }

    private long address(int i) {
      return fields[FIELDS * i];
    }

    private long key(int i) {
      return fields[FIELDS * i + 1];
    }

    private int lengthBytes(int i) {
      return (int) fields[FIELDS * i + 2];
    }

    private Pieces copy() {
      Pieces copy = new Pieces(count);
      System.arraycopy(fields, 0, copy.fields, 0, FIELDS * count);
      copy.count = count;
      return copy;
    }

    void clear() {
      count = 0;
    }
  }

  private final FetchRequest request;
  private final int index;
  private State state = State.WANTED;
  private long blockBytes = -1;
  private long firstAskedNs;

  /** Bytes from the block's beginning that were located. */
  private long locatedBytes;

  private long copiedBytes;
  private int checksumKind = Located.NO_CHECKSUM;

  /** Null without checksums. */
  private PartitionChecksums sums;

  /** Null before it has memory, and after that was handed on or released. */
  private FetchedBlock memory;

  private ReadBatch batch;

  /** Index in the batch of its last READ. */
  private int lastRead;

  /** Time since which it is wanted. */
  private long sinceNs;

  /** The pieces that wait for memory; null without. */
  private Pieces waitingPieces;

  /**
   * @param index in its request
   */
  BlockRead(FetchRequest request, int index) {
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

  /** Time since which it is wanted. */
  long sinceNs() {
    return sinceNs;
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

  /** The first piece says how long it is. */
  void setLength(long bytes) {
    blockBytes = bytes;
  }

  /**
   * Takes the piece at which an answer stands.
   *
   * @param pieces of this block in that answer, which gets it too
   */
  void add(Located.Decoder located, Pieces pieces) {
    int length = located.lengthBytes();
    pieces.add(located.address(), located.remoteKey(), length);
    locatedBytes += length;
    copiedBytes += located.isCopied() ? length : 0;
    for (int i = 0; i < located.sumCount(); i++) {
      if (sums == null) {
        checksumKind = located.checksumKind();
        sums = new PartitionChecksums();
      }
      sums.add(located.sumEnd(i), located.sum(i));
    }
  }

  /** Memory of its bytes; null without. */
  FetchedBlock memory() {
    return memory;
  }

  /** It has memory for all of its bytes: adds READs of its new pieces to a batch. */
  void read(ReadBatch ofAnswer, FetchedBlock in, Pieces pieces) {
    memory = in;
    batch = ofAnswer;
    state = State.READING;
    long offset = locatedBytes;
    for (int i = 0; i < pieces.count; i++) {
      offset -= pieces.lengthBytes(i);
    }
    for (int i = 0; i < pieces.count; i++) {
      int length = pieces.lengthBytes(i);
      batch.read(in, pieces.address(i), pieces.key(i), offset, length);
      offset += length;
    }
    lastRead = batch.add(this);
  }

  /** It waits for memory with its pieces, which belong to a batch. */
  void await(ReadBatch ofAnswer, Pieces pieces) {
    batch = ofAnswer;
    waitingPieces = pieces.copy();
    state = State.WAITING;
  }

  /** It has the memory for which it waited. */
  void readWaiting(FetchedBlock in) {
    read(batch, in, waitingPieces);
    waitingPieces = null;
  }

  /** Whether it waits for memory. */
  boolean waitsForMemory() {
    return state == State.WAITING;
  }

  @Override
  protected void onMemory(FetchedBlock granted) {
    batch.connection().onMemory(this, batch, granted);
  }

  @Override
  protected void onTimeout() {
    batch.connection().onMemory(this, batch, null);
  }

  int lastRead() {
    return lastRead;
  }

  /** Hands the whole block to the request. */
  void deliver() {
    FetchedBlock whole = memory;
    memory = null;
    state = State.SETTLED;
    whole.checksums(checksumKind, sums);
    whole.addCopied(copiedBytes);
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
