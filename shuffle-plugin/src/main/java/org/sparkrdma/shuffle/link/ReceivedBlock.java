// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.link;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.wire.Located;

/**
 * Registered memory of one block with its checksums. It holds a reference to the chunk of each
 * segment until {@link #release}. Filled by the agent, then used by one thread at a time.
 */
public final class ReceivedBlock {
  /** Contiguous bytes of one chunk. */
  record Segment(RegisteredChunk chunk, int offset, int lengthBytes) {}

  private final List<Segment> segments = new ArrayList<>(1);
  private final long lengthBytes;
  private int checksumKind = Located.NO_CHECKSUM;

  /** Ends of partitions and their checksums in turn. */
  private long[] sums = {};

  private int sumCount;
  private long copiedBytes;

  ReceivedBlock(long lengthBytes) {
    this.lengthBytes = lengthBytes;
  }

  /** Length of the whole block. */
  public long lengthBytes() {
    return lengthBytes;
  }

  /** Number of segments; none when the block is empty. */
  public int segmentCount() {
    return segments.size();
  }

  /** A new view of the {@code i}-th segment. */
  public ByteBuffer segment(int i) {
    Segment segment = segments.get(i);
    return segment.chunk.slice(segment.offset, segment.lengthBytes);
  }

  List<Segment> segments() {
    return segments;
  }

  /** Adds a segment of a chunk, which it retains. */
  void add(RegisteredChunk chunk, int offset, int bytes) {
    chunk.retain();
    segments.add(new Segment(chunk, offset, bytes));
  }

  /** Whether it has memory. */
  boolean isFilled() {
    return lengthBytes == 0 || !segments.isEmpty();
  }

  void addSum(int kind, long end, long sum) {
    checksumKind = kind;
    if (sums.length == sumCount) {
      sums = Arrays.copyOf(sums, Math.max(2, 2 * sumCount));
    }
    sums[sumCount++] = end;
    sums[sumCount++] = sum;
  }

  void addCopied(long bytes) {
    copiedBytes += bytes;
  }

  /** Kind of the checksums, see {@link Located#NO_CHECKSUM}. */
  public int checksumKind() {
    return checksumKind;
  }

  /** Number of checksums: one for each partition that is not empty. */
  public int sums() {
    return sumCount / 2;
  }

  /** Offset in the block of the end of the partition of the {@code i}-th checksum. */
  public long sumEnd(int i) {
    return sums[2 * i];
  }

  /** The {@code i}-th checksum. */
  public long sum(int i) {
    return sums[2 * i + 1];
  }

  /** Bytes that the server served from its copies. */
  public long copiedBytes() {
    return copiedBytes;
  }

  /** Gives the memory back; once. */
  public void release() {
    for (Segment segment : segments) {
      segment.chunk.release();
    }
    segments.clear();
  }
}
