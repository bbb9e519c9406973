// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sparkrdma.leak.LeakRecord;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.memory.RegisteredPool;

/**
 * Divides the receive pool among the blocks and readers of an executor.
 *
 * <ul>
 *   <li>A block reserves memory for all of its bytes before its first READ, or none. So no block
 *       waits while it holds memory that others wait for.
 *   <li>A reader that holds memory may reserve more only while at least as much stays free for the
 *       others. One reader gets at most half of the pool, n readers about 1/(n + 1) each.
 *   <li>While less than half of the pool is free, complete blocks are copied to the heap. Blocks
 *       that Spark has received and not read yet occupy at most the other half.
 *   <li>When the heap has no room for a copy of what is being read, memory that a reader holds
 *       includes its blocks that Spark has not released.
 *   <li>Blocks of successive answers share chunks.
 * </ul>
 *
 * <p>The agent reserves and places; other threads copy and close reservations, under the lock.
 */
public final class ReceiveMemory {
  private static final int READER_PART = 2;
  private static final int SHORT_PART = 2;
  private static final int DISK_PARTS = 4;

  /** Maximum bytes of a to-disk block to read before they are written. */
  private static final long MAX_DISK_PART_BYTES = 8L << 20;

  private static final int MAX_ARRAY_BYTES = Integer.MAX_VALUE - 8;

  private final RegisteredPool pool;
  private final long maxCopiedBytes;

  /** Those that hold memory. */
  private final Map<Long, ReaderMemory> readers = new HashMap<>();

  /** Reader of the last reservation; successive blocks are mostly of one reader. */
  private ReaderMemory last = new ReaderMemory(FetchHandler.NO_READER, this);

  private long reservedBytes;
  private long promisedBytes;
  private long copiedBytes;
  private RegisteredChunk open;
  private int position;

  /**
   * @param maxCopiedBytes maximum heap memory of copied blocks; beyond it they stay in the pool
   */
  public ReceiveMemory(RegisteredPool pool, long maxCopiedBytes) {
    this.pool = pool;
    this.maxCopiedBytes = maxCopiedBytes;
  }

  /** Whether a block of this length can ever be received. */
  public boolean canFit(long lengthBytes) {
    return lengthBytes <= pool.limitBytes() / READER_PART;
  }

  /** Maximum bytes of a to-disk block that are in memory at a time. */
  public long diskPartBytes() {
    return Math.min(MAX_DISK_PART_BYTES, pool.limitBytes() / DISK_PARTS);
  }

  /**
   * Reserves memory for the rest of a block, which has no reservation.
   *
   * @param reader the task that reads it
   * @param mayStay whether the memory may stay in use until Spark has read the block
   * @return false when the block must wait for memory; idle windows are then evicted
   */
  boolean tryReserve(Reservation block, long reader, long lengthBytes, boolean mayStay) {
    if (tryReserveLocked(block, reader, lengthBytes, mayStay)) {
      return true;
    }
    pool.reportShortage(lengthBytes);
    return false;
  }

  private synchronized boolean tryReserveLocked(
      Reservation block, long id, long lengthBytes, boolean mayStay) {
    ReaderMemory reader = reader(id);
    // Its own earlier parts do not make a block wait.
    boolean counts = mayStay && block.memory().count() == 0;
    if (!isWithinShare(reader, lengthBytes, counts)) {
      return false;
    }
    // First, because it allocates and so may fail.
    block.leakRecord = LeakRecord.acquire("reservation of receive memory");
    if (reader.isUnused()) {
      readers.put(id, reader);
    }
    reader.reservations++;
    reader.reservedBytes += lengthBytes;
    block.memory().removeUnread();
    reservedBytes += lengthBytes;
    promisedBytes += lengthBytes;
    block.receive = this;
    block.reader = reader;
    block.reservedBytes = lengthBytes;
    block.unplacedBytes = lengthBytes;
    return true;
  }

  private boolean isWithinShare(ReaderMemory reader, long lengthBytes, boolean mayStay) {
    long held = reader.reservedBytes;
    if (mayStay && !canCopy(reservedBytes + lengthBytes)) {
      held += reader.unreadBytes();
    }
    long othersNeed = held > 0 ? held + lengthBytes : 0;
    return lengthBytes <= freeBytes() - othersNeed;
  }

  private ReaderMemory reader(long id) {
    if (last.id != id) {
      ReaderMemory known = readers.get(id);
      last = known == null ? new ReaderMemory(id, this) : known;
    }
    return last;
  }

  /** Number of readers that hold memory. */
  synchronized int readers() {
    return readers.size();
  }

  synchronized void forgetUnused(ReaderMemory reader) {
    if (reader.isUnused()) {
      readers.remove(reader.id, reader);
    }
  }

  private long freeBytes() {
    return pool.availableBytes() + openRoom() - promisedBytes;
  }

  /** Whether this number of bytes is free, so that only the share of its reader refuses a block. */
  public synchronized boolean isFree(long lengthBytes) {
    return lengthBytes <= freeBytes();
  }

  /**
   * Whether this number of bytes will be free soon without a consumer's help: blocks being read
   * hold at least as much as blocks that Spark has not released.
   */
  public synchronized boolean isHeldByReads(long lengthBytes) {
    long takenBytes = (long) pool.chunksOut() * pool.chunkBytes() - openRoom();
    long placedBytes = reservedBytes - promisedBytes;
    return reservedBytes >= takenBytes - placedBytes
        && lengthBytes <= freeBytes() + reservedBytes
        && reservedBytes > 0;
  }

  private int openRoom() {
    return open == null ? 0 : open.lengthBytes() - position;
  }

  /**
   * Places a sink in the open chunk, or in a new one if it is full, and adds it to the block, which
   * has a reservation.
   *
   * @param maxBytes more than 0
   * @return length of the sink; 0 when the reservation is used up, or the pool is empty because
   *     windows have taken the memory of the reservation or the device refuses it
   */
  synchronized int addSink(Reservation block, int maxBytes) {
    if (openRoom() == 0) {
      closeOpenChunk();
      open = pool.tryTake().orElse(null);
    }
    int sinkBytes = (int) Math.min(Math.min(openRoom(), block.unplacedBytes), maxBytes);
    if (sinkBytes > 0) {
      block.memory().add(open, position, sinkBytes);
      position += sinkBytes;
      block.unplacedBytes -= sinkBytes;
      promisedBytes -= sinkBytes;
    }
    return sinkBytes;
  }

  /** The chunk of the last sink. The agent's thread. */
  public RegisteredChunk sinkChunk() {
    return open;
  }

  /** End of the last sink in its chunk. The agent's thread. */
  public int sinkEnd() {
    return position;
  }

  /** Releases the open chunk, when no READ is outstanding; blocks hold their own references. */
  public synchronized void closeOpenChunk() {
    if (open != null) {
      open.release();
      open = null;
      position = 0;
    }
  }

  /**
   * Marks slabs of the pool that are idle since the last call, for {@link #trimIdle}. The agent's
   * thread.
   */
  public void markIdle() {
    closeOpenChunk();
    pool.markIdle();
  }

  /** Deregisters marked slabs, at most this number; returns how many it was. */
  public int trimIdle(int max) {
    return pool.trimIdle(max);
  }

  /** Ends the reservation of a block; its segments stay. */
  synchronized void endReservation(Reservation block) {
    ReaderMemory reader = block.reader;
    onEnded(reader, 1, end(block));
    block.leakRecord.release();
  }

  /** Returns the bytes that the block keeps, for {@link #onEnded}. */
  private long end(Reservation block) {
    ReaderMemory reader = block.reader;
    block.reader = null;
    reservedBytes -= block.reservedBytes;
    promisedBytes -= block.unplacedBytes;
    reader.reservedBytes -= block.reservedBytes;
    return block.memory().markUnread(reader);
  }

  private void onEnded(ReaderMemory reader, int count, long unread) {
    reader.endReservations(count, unread);
    forgetUnused(reader);
  }

  /**
   * Ends the reservations of complete blocks. If receive memory is short, grants copies of them on
   * the heap.
   */
  static void endReservations(List<BlockProgress> blocks) {
    ReceiveMemory receive = null;
    for (int i = 0; receive == null && i < blocks.size(); i++) {
      receive = blocks.get(i).receive;
    }
    if (receive != null) {
      receive.endAndGrantCopies(blocks);
    }
  }

  private synchronized void endAndGrantCopies(List<BlockProgress> blocks) {
    boolean isShort = pool.availableBytes() < pool.limitBytes() / SHORT_PART;
    int next = 0;
    while (next < blocks.size()) {
      next = endThoseOfOneReader(blocks, next, isShort);
    }
  }

  /** Returns the index of the first block of another reader. */
  private int endThoseOfOneReader(List<BlockProgress> blocks, int from, boolean isShort) {
    ReaderMemory reader = blocks.get(from).reader;
    if (reader == null) {
      return from + 1;
    }
    int next = from;
    long unread = 0;
    try {
      while (next < blocks.size() && blocks.get(next).reader == reader) {
        Reservation block = blocks.get(next);
        next++;
        unread += end(block);
        block.leakRecord.release();
        if (isShort) {
          grantCopy(block);
        }
      }
    } finally {
      onEnded(reader, next - from, unread);
    }
    return next;
  }

  private boolean canCopy(long bytes) {
    return bytes <= maxCopiedBytes - copiedBytes;
  }

  private void grantCopy(Reservation block) {
    long bytes = block.memory().size();
    if (bytes <= MAX_ARRAY_BYTES && canCopy(bytes)) {
      copiedBytes += bytes;
      block.copyGranted = true;
    }
  }

  /**
   * Copies a block with a granted copy to the heap, and releases its chunks.
   *
   * @return null when the heap is full; the grant has ended
   */
  HeapBlock tryCopy(Reservation block) {
    BlockMemory memory = block.memory();
    int bytes = (int) memory.size();
    block.copyGranted = false;
    HeapBlock copy = null;
    try {
      byte[] array = new byte[bytes];
      memory.copyTo(array);
      copy = new HeapBlock(array, this);
    } catch (OutOfMemoryError e) {
      return null;
    } finally {
      if (copy == null) {
        copyReleased(bytes);
      }
    }
    memory.clear();
    return copy;
  }

  synchronized void copyReleased(long lengthBytes) {
    copiedBytes -= lengthBytes;
  }
}
