// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

  private final RegisteredPool pool;
  private final long maxCopiedBytes;
  private final Map<Long, Long> heldByReader = new HashMap<>();
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
   * Reserves memory for a block.
   *
   * @param reader the task that reads it
   * @return empty when the block must wait for memory; idle windows are then evicted
   */
  public Optional<Reservation> tryReserve(long reader, long lengthBytes) {
    synchronized (this) {
      long free = pool.availableBytes() + openRoom() - promisedBytes;
      long held = heldByReader.getOrDefault(reader, 0L);
      long othersNeed = held > 0 ? held + lengthBytes : 0;
      if (lengthBytes <= free - othersNeed) {
        promisedBytes += lengthBytes;
        heldByReader.put(reader, held + lengthBytes);
        return Optional.of(new Reservation(reader, lengthBytes));
      }
    }
    pool.reportShortage(lengthBytes);
    return Optional.empty();
  }

  private int openRoom() {
    return open == null ? 0 : open.lengthBytes() - position;
  }

  /** Free bytes in the open chunk, or in a new one if it is full; 0 when the pool is empty. */
  public synchronized int room() {
    if (openRoom() == 0) {
      closeOpenChunk();
      open = pool.tryTake().orElse(null);
    }
    return openRoom();
  }

  /** Releases the open chunk, when no READ is outstanding; blocks hold their own references. */
  public synchronized void closeOpenChunk() {
    if (open != null) {
      open.release();
      open = null;
      position = 0;
    }
  }

  private boolean isShort() {
    return pool.availableBytes() < pool.limitBytes() / SHORT_PART;
  }

  private synchronized boolean tryGrantCopy(long lengthBytes) {
    boolean granted = isShort() && lengthBytes <= maxCopiedBytes - copiedBytes;
    copiedBytes += granted ? lengthBytes : 0;
    return granted;
  }

  private synchronized void copyReleased(long lengthBytes) {
    copiedBytes -= lengthBytes;
  }

  /** Memory for the rest of one block; closed when the block is delivered or has failed. */
  public final class Reservation implements AutoCloseable {
    private final long reader;
    private final long lengthBytes;
    private final LeakRecord leakRecord = LeakRecord.acquire("reservation of receive memory");
    private long unplacedBytes;
    private boolean closed;

    private Reservation(long reader, long lengthBytes) {
      this.reader = reader;
      this.lengthBytes = lengthBytes;
      this.unplacedBytes = lengthBytes;
    }

    /** Reserved bytes for which no sink was placed. */
    public long unplacedBytes() {
      return unplacedBytes;
    }

    /** Places a sink at the current position of the open chunk. */
    public Segment place(int sinkBytes) {
      synchronized (ReceiveMemory.this) {
        Segment segment = new Segment(open, position, sinkBytes);
        open.retain();
        position += sinkBytes;
        unplacedBytes -= sinkBytes;
        promisedBytes -= sinkBytes;
        return segment;
      }
    }

    /**
     * Copies a complete block to the heap if receive memory is short, and releases its chunks.
     *
     * @param segments of the block; theirs are the chunks that are released
     * @return empty when the block stays in receive memory
     */
    Optional<FetchedBlock> tryCopy(List<Segment> segments) {
      long bytes = segments.stream().mapToLong(Segment::lengthBytes).sum();
      if (bytes > Integer.MAX_VALUE - 8 || !tryGrantCopy(bytes)) {
        return Optional.empty();
      }
      ByteBuffer copy;
      try {
        copy = ByteBuffer.allocate((int) bytes);
      } catch (OutOfMemoryError e) {
        copyReleased(bytes);
        return Optional.empty();
      }
      segments.forEach(segment -> copy.put(segment.bytes()));
      segments.forEach(segment -> segment.chunk().release());
      return Optional.of(new FetchedBlock(copy.flip(), () -> copyReleased(bytes)));
    }

    @Override
    public void close() {
      synchronized (ReceiveMemory.this) {
        if (closed) {
          return;
        }
        closed = true;
        promisedBytes -= unplacedBytes;
        heldByReader.computeIfPresent(
            reader, (key, held) -> held == lengthBytes ? null : held - lengthBytes);
      }
      leakRecord.release();
    }
  }
}
