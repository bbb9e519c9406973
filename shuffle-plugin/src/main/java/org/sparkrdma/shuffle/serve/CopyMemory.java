// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkrdma.memory.OpenDevice;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.pinned.MemoryShares;
import org.sparkrdma.verbs.AccessFlag;

/**
 * Registered memory for copies of blocks, and how much of it each reader may hold: as much as is
 * left free then. So one reader alone gets half, and some that release nothing leave the others as
 * much as each of them holds. An answer owns its chunks until its lease ends; nothing is cached.
 *
 * <p>A load takes chunks on the thread of its disk; all else is confined to the agent.
 */
final class CopyMemory {
  private final RegisteredPool pool;
  private final long servingBytes;
  private final int chunkBytes;
  private final long regionBytes;
  private final Map<Long, Share> shares = new HashMap<>();
  private final AtomicLong heldBytes = new AtomicLong();

  /** What readers may share: memory that windows in use leave. */
  private volatile long sharedBytes;

  private long windowBytes;
  private volatile long idleBytes;

  /** What a reader holds. Safe for any thread. */
  static final class Share {
    private final AtomicLong bytes = new AtomicLong();

    /** Bytes of chunks that it holds. */
    long bytes() {
      return bytes.get();
    }
  }

  /**
   * @param device whose budget leaves its reserve to receive memory
   * @param chunkBytes length of a chunk
   */
  CopyMemory(OpenDevice device, int chunkBytes) {
    this.servingBytes = device.budget().limitBytes() - device.budget().reservedBytes();
    this.chunkBytes = chunkBytes;
    this.regionBytes =
        Math.max(
            chunkBytes, Math.min(MemoryShares.REGION_BYTES, servingBytes / MemoryShares.COPY_PART));
    this.pool =
        new RegisteredPool(
            device,
            EnumSet.of(AccessFlag.REMOTE_READ),
            chunkBytes,
            (int) (regionBytes / chunkBytes),
            servingBytes);
    setWindowBytes(0);
  }

  /** Windows hold so many bytes. */
  void setWindowBytes(long newWindowBytes) {
    windowBytes = newWindowBytes;
    pool.limit(servingBytes - windowBytes);
    setIdleBytes(idleBytes);
  }

  /** Idle windows, which end for copies, hold so many of them. */
  void setIdleBytes(long newIdleBytes) {
    idleBytes = newIdleBytes;
    sharedBytes = servingBytes - windowBytes + idleBytes;
  }

  /** Whether windows may hold so many bytes more without taking memory from copies. */
  boolean leavesRoomFor(long lengthBytes) {
    return windowBytes + lengthBytes <= servingBytes - servingBytes / MemoryShares.COPY_PART
        && fitsBeside(lengthBytes);
  }

  /** Whether windows and copies together may hold so many bytes more. */
  boolean fitsBeside(long lengthBytes) {
    return windowBytes + lengthBytes + pool.registeredBytes() <= servingBytes;
  }

  /** Chunks that could be taken now. */
  long freeChunks() {
    return pool.availableBytes() / chunkBytes;
  }

  /** The share of a reader. */
  Share shareOf(long reader) {
    return shares.computeIfAbsent(reader, unused -> new Share());
  }

  /** Forgets readers that hold nothing. */
  void dropUnusedShares() {
    shares.values().removeIf(share -> share.bytes() == 0);
  }

  /** Whether a reader could take a chunk now. */
  boolean couldTake(Share share) {
    return mayHold(share) && pool.availableBytes() > 0;
  }

  /** Any thread. */
  private boolean mayHold(Share share) {
    long held = share.bytes();
    // Receive memory may have taken some.
    long left = Math.min(sharedBytes - heldBytes.get(), pool.availableBytes() + idleBytes);
    return held == 0 || held + chunkBytes <= left;
  }

  /**
   * Takes a chunk. Any thread.
   *
   * @return null when there is none now, or the reader holds its share
   */
  RegisteredChunk tryTake(Share share) {
    if (!tryCount(share)) {
      return null;
    }
    RegisteredChunk chunk = null;
    try {
      chunk = pool.tryTake().orElse(null);
    } finally {
      if (chunk == null) {
        count(share, -chunkBytes);
      }
    }
    return chunk;
  }

  /** Counts a chunk for a reader, if it may hold one more. Any thread. */
  private synchronized boolean tryCount(Share share) {
    boolean may = mayHold(share);
    if (may) {
      count(share, chunkBytes);
    }
    return may;
  }

  private void count(Share share, int lengthBytes) {
    share.bytes.addAndGet(lengthBytes);
    heldBytes.addAndGet(lengthBytes);
  }

  /** Returns a chunk. */
  void release(RegisteredChunk chunk, Share share) {
    chunk.release();
    count(share, -chunkBytes);
  }

  /** Deregisters regions that nobody has used since the last call; not on the agent. */
  void trimUnused() {
    pool.trimUnused();
  }

  /** Whether no reader could take a chunk now. */
  boolean isExhausted() {
    return pool.availableBytes() == 0;
  }

  /** Bytes of memory that nothing holds, about. */
  long unusedBytes() {
    return pool.registeredBytes() - (long) pool.chunksOut() * chunkBytes;
  }

  /** Deregisters regions of which nothing holds a chunk, of so many bytes; not on the agent. */
  void closeUnused(long lengthBytes) {
    pool.trimFree((int) Math.min(Integer.MAX_VALUE, lengthBytes / regionBytes + 1));
  }

  /** After the end of all other use. */
  void close() {
    pool.close();
  }
}
