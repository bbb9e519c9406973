// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.ArrayList;
import java.util.List;

/**
 * The READs of one LOCATED: one lease and one deadline. Owned by the agent.
 *
 * <p>Its segments keep their chunks until all READs have completed or the queue pair is destroyed:
 * until then a READ may write its sink.
 */
public final class ReadBatch {
  private final long leaseId;
  private final long deadlineNs;
  private final List<Part> parts = new ArrayList<>();
  private int readsLeft;

  public ReadBatch(long leaseId, long deadlineNs) {
    this.leaseId = leaseId;
    this.deadlineNs = deadlineNs;
  }

  /** The part of one block in this batch. */
  public static final class Part {
    private final BlockProgress block;
    private final List<Segment> segments = new ArrayList<>();
    private final PartitionSums sums = new PartitionSums();
    private long bytes;
    private boolean cutOff;

    private Part(BlockProgress block) {
      this.block = block;
    }

    public BlockProgress block() {
      return block;
    }

    List<Segment> segments() {
      return segments;
    }

    public long bytes() {
      return bytes;
    }

    /** Whether the block is complete once this part is committed. */
    public boolean completesBlock() {
      return block.isCompleteWith(bytes);
    }

    /** Checksums of the partitions that end in this part. */
    PartitionSums sums() {
      return sums;
    }

    /** Whether the rest of the block is left for another LOCATE. */
    public boolean cutOff() {
      return cutOff;
    }

    public void cutOffHere() {
      cutOff = true;
    }

    public void sum(long end, long sum) {
      sums.add(end, sum);
    }

    public void add(Segment segment) {
      segments.add(segment);
      bytes += segment.lengthBytes();
    }
  }

  public long leaseId() {
    return leaseId;
  }

  public long deadlineNs() {
    return deadlineNs;
  }

  public List<Part> parts() {
    return parts;
  }

  /** The part of this block: the last one when it is of the same block, else a new one. */
  public Part partOf(BlockProgress block) {
    Part last = parts.isEmpty() ? null : parts.get(parts.size() - 1);
    if (last == null || !last.block.equals(block)) {
      last = new Part(block);
      parts.add(last);
    }
    return last;
  }

  /** One more READ belongs to the batch. */
  public void countRead() {
    readsLeft++;
  }

  /** Takes one READ off the count; returns true when it was the last. */
  public boolean markReadDone() {
    return --readsLeft == 0;
  }

  public boolean hasReads() {
    return readsLeft > 0;
  }

  /** Releases the sinks, after the queue pair is destroyed. */
  public void releaseSinks() {
    for (Part part : parts) {
      part.segments.forEach(segment -> segment.chunk().release());
    }
  }
}
