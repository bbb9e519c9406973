// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.metrics.Counter;

/**
 * A block in registered memory: target of READs, then the buffer that Spark reads;
 * reference-counted as Spark's own network buffers. It consists of segments, contiguous bytes in
 * one chunk each, and holds one reference to the chunk of each. The first one is in fields, because
 * nearly all blocks have only one.
 *
 * <p>The first access to its bytes verifies the whole block on the caller's thread. When a checksum
 * differs, that thread fetches the block by TCP and waits; the block consists of TCP's bytes from
 * then on ({@link WrongChecksum}). An access that throws before any byte is returned has released
 * one reference, Spark's: its iterator does not release a block that it could not open.
 *
 * <p>Created with one reference. After the last release the memory is used for other blocks: every
 * later access throws, and a concurrent read throws instead of returning other bytes. The agent
 * fills it; afterwards one thread opens it, and any thread retains and releases it.
 */
public final class FetchedBlock extends ManagedBuffer {
  private static final AtomicIntegerFieldUpdater<FetchedBlock> REFERENCES =
      AtomicIntegerFieldUpdater.newUpdater(FetchedBlock.class, "references");

  private static final AtomicIntegerFieldUpdater<FetchedBlock> OPENED =
      AtomicIntegerFieldUpdater.newUpdater(FetchedBlock.class, "opened");

  private volatile int references = 1;

  private RegisteredChunk chunk;
  private int offset;
  private int lengthBytes;

  /** The segments after the first; null when there are none. */
  private List<Segment> more;

  private long copiedBytes;

  private PartitionChecksums sums = PartitionChecksums.NONE;

  /** Null before the block is fetched. */
  private FetchRequest request;

  private int index;

  /** 1 since it was opened, or released unopened. */
  private volatile int opened;

  private boolean verified;

  /** TCP's bytes, which replace the registered memory; null for nearly all blocks. */
  private volatile ManagedBuffer tcp;

  private record Segment(RegisteredChunk chunk, int offset, int lengthBytes) {}

  FetchedBlock() {}

  /** A block without bytes. */
  public static FetchedBlock empty() {
    return new FetchedBlock();
  }

  /**
   * Adds bytes, which follow those before.
   *
   * @param from chunk that the caller holds; the segment retains it
   */
  void add(RegisteredChunk from, int at, int bytes) {
    from.retain();
    if (chunk == null) {
      chunk = from;
      offset = at;
      lengthBytes = bytes;
    } else {
      if (more == null) {
        more = new ArrayList<>();
      }
      more.add(new Segment(from, at, bytes));
    }
  }

  /** Adds bytes that the server copied. */
  public void addCopied(long bytes) {
    copiedBytes += bytes;
  }

  /** Bytes that the server copied. */
  long copiedBytes() {
    return copiedBytes;
  }

  /**
   * Adds a checksum of its bytes, which follow those of the checksum before.
   *
   * @param kind as {@link org.sparkrdma.shuffle.wire.Located#NO_CHECKSUM} and its companions
   * @param end offset in the block of the end of these bytes
   */
  public void addSum(int kind, long end, long sum) {
    if (sums == PartitionChecksums.NONE) {
      sums = new PartitionChecksums(kind);
    }
    sums.add(end, sum);
  }

  /** The block is fetched, and the next access verifies it for this request. */
  void fetchedFor(FetchRequest by, int indexOfBlock) {
    request = by;
    index = indexOfBlock;
  }

  /** Number of its segments; empty blocks have none. */
  int count() {
    if (chunk == null) {
      return 0;
    }
    return more == null ? 1 : 1 + more.size();
  }

  /** Chunk of the {@code i}-th segment. */
  public RegisteredChunk chunk(int i) {
    return i == 0 ? chunk : more.get(i - 1).chunk;
  }

  /** Adds the chunks of all segments. */
  public void addChunks(Set<RegisteredChunk> to) {
    for (int i = 0; i < count(); i++) {
      to.add(chunk(i));
    }
  }

  /** Offset of the {@code i}-th segment in its chunk. */
  public int offset(int i) {
    return i == 0 ? offset : more.get(i - 1).offset;
  }

  /** Length of the {@code i}-th segment in bytes, more than 0. */
  public int lengthBytes(int i) {
    return i == 0 ? lengthBytes : more.get(i - 1).lengthBytes;
  }

  /** A byte of the {@code i}-th segment; of another block when the memory was released. */
  byte get(int i, int position) {
    return chunk(i).get(offset(i) + position);
  }

  /** Copies bytes of the {@code i}-th segment; of another block when the memory was released. */
  void get(int i, int position, byte[] target, int targetOffset, int bytes) {
    chunk(i).get(offset(i) + position, target, targetOffset, bytes);
  }

  /** A new view of the {@code i}-th segment. */
  ByteBuffer view(int i) {
    return chunk(i).slice(offset(i), lengthBytes(i));
  }

  /**
   * Throws when the memory was released.
   *
   * @throws IllegalStateException after the last release
   */
  void checkLive() {
    // Orders the caller's earlier reads of bytes before this load of the count: a volatile load
    // orders later ones only.
    VarHandle.acquireFence();
    if (references <= 0) {
      throw new IllegalStateException("block read after its last release: sizeBytes=" + size());
    }
  }

  /** Verifies the block at the first call; see the class comment. */
  private void verify() {
    checkLive();
    if (verified || request == null) {
      return;
    }
    onOpened();
    try {
      tcp = replacement();
      verified = true;
    } finally {
      if (!verified) {
        release();
      }
    }
  }

  /** Verifies the bytes; returns those to use instead, null where these are right or unverified. */
  private ManagedBuffer replacement() {
    FetchContext context = request.context();
    if (!context.verify()) {
      return null;
    }
    switch (sums.verify(this)) {
      case MATCH -> context.counters().increment(Counter.BLOCKS_VERIFIED);
      case NO_SUMS -> context.counters().increment(Counter.BLOCKS_UNVERIFIED);
      default -> {
        // When the memory was released meanwhile, other bytes were verified.
        checkLive();
        return WrongChecksum.fetchAgain(this, request, index);
      }
    }
    return null;
  }

  @Override
  public long size() {
    ManagedBuffer replacement = tcp;
    if (replacement != null) {
      return replacement.size();
    }
    long bytes = 0;
    int count = count();
    for (int i = 0; i < count; i++) {
      bytes += lengthBytes(i);
    }
    return bytes;
  }

  @Override
  public InputStream createInputStream() throws IOException {
    verify();
    return tcp == null ? new SegmentInputStream() : tcp.createInputStream();
  }

  /** A copy on the heap, which stays valid after release. */
  @Override
  public ByteBuffer nioByteBuffer() throws IOException {
    verify();
    if (tcp != null) {
      return tcp.nioByteBuffer();
    }
    byte[] bytes = new byte[Math.toIntExact(size())];
    int at = 0;
    for (int i = 0; i < count(); i++) {
      get(i, 0, bytes, at, lengthBytes(i));
      at += lengthBytes(i);
    }
    checkLive();
    return ByteBuffer.wrap(bytes);
  }

  @Override
  public Object convertToNetty() throws IOException {
    return Unpooled.wrappedBuffer(nioByteBuffer());
  }

  @Override
  public Object convertToNettyForSsl() throws IOException {
    return convertToNetty();
  }

  @Override
  public ManagedBuffer retain() {
    // Never increments from 0, not even briefly: another thread would see a live block.
    if (REFERENCES.getAndUpdate(this, n -> n > 0 ? n + 1 : n) <= 0) {
      throw new IllegalStateException("block retained after its last release");
    }
    return this;
  }

  /**
   * The last release gives the memory back. Number and lengths of the segments stay, for readers in
   * other threads that have not seen the release yet: they read other bytes and must drop them.
   */
  @Override
  public ManagedBuffer release() {
    int before = REFERENCES.getAndUpdate(this, n -> n > 0 ? n - 1 : n);
    if (before <= 0) {
      throw new IllegalStateException("block released more often than retained");
    }
    if (before == 1) {
      free();
    }
    return this;
  }

  private void onOpened() {
    if (request != null && opened == 0 && OPENED.compareAndSet(this, 0, 1)) {
      request.task().onOpened();
    }
  }

  private void free() {
    onOpened();
    for (int i = 0; i < count(); i++) {
      chunk(i).release();
    }
    if (tcp != null) {
      tcp.release();
    }
  }

  @Override
  public String toString() {
    return "FetchedBlock[sizeBytes=" + size() + " references=" + references + "]";
  }

  /**
   * Reads the registered memory from front to back; owned by one thread, holds no reference. Bytes
   * are returned only if the block was live after they were copied.
   */
  private final class SegmentInputStream extends InputStream {
    private int segment;
    private int position;

    /** Moves to the next segment at the end of one; returns the bytes left in it, 0 at the end. */
    private int advance() {
      checkLive();
      int count = count();
      int left = segment < count ? lengthBytes(segment) - position : 0;
      if (left == 0 && segment + 1 < count) {
        segment++;
        position = 0;
        left = lengthBytes(segment);
      }
      return left;
    }

    @Override
    public int read() {
      if (advance() == 0) {
        return -1;
      }
      int value = Byte.toUnsignedInt(get(segment, position));
      position++;
      checkLive();
      return value;
    }

    @Override
    public int read(byte[] target, int targetOffset, int length) {
      Objects.checkFromIndexSize(targetOffset, length, target.length);
      if (length == 0) {
        return 0;
      }
      int copied = Math.min(length, advance());
      if (copied == 0) {
        return -1;
      }
      get(segment, position, target, targetOffset, copied);
      position += copied;
      checkLive();
      return copied;
    }

    @Override
    public long skip(long count) {
      long skipped = 0;
      int left = count > 0 ? advance() : 0;
      while (left > 0) {
        int step = (int) Math.min(count - skipped, left);
        position += step;
        skipped += step;
        left = skipped < count ? advance() : 0;
      }
      return skipped;
    }

    @Override
    public int available() {
      long available = -position;
      for (int i = segment; i < count(); i++) {
        available += lengthBytes(i);
      }
      return (int) Math.min(available, Integer.MAX_VALUE);
    }
  }
}
