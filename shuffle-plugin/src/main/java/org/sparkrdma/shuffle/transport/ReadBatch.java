// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.fetch.FetchedBlock;

/**
 * The READs of one answer: one lease, one deadline. READs of a connection complete in the order in
 * which they were posted, so a block is whole when its last READ is done. Adjacent bytes are read
 * by one READ. Confined to the agent.
 */
final class ReadBatch {
  /** One RDMA READ into a run of one chunk. */
  static final class Read {
    private final ReadBatch batch;
    private final long address;
    private final long key;
    private final RegisteredChunk chunk;
    private final int offset;
    private int lengthBytes;

    Read(ReadBatch batch, long address, long key, RegisteredChunk chunk, int offset, int bytes) {
      this.batch = batch;
      this.address = address;
      this.key = key;
      this.chunk = chunk;
      this.offset = offset;
      this.lengthBytes = bytes;
    }

    ReadBatch batch() {
      return batch;
    }

    long address() {
      return address;
    }

    long key() {
      return key;
    }

    RegisteredChunk chunk() {
      return chunk;
    }

    int offset() {
      return offset;
    }

    int lengthBytes() {
      return lengthBytes;
    }

    /** Appends bytes that follow directly both at the peer and in the chunk. */
    boolean append(long from, long withKey, RegisteredChunk into, int at, int bytes) {
      boolean follows =
          withKey == key
              && from == address + lengthBytes
              && into == chunk
              && at == offset + lengthBytes;
      lengthBytes += follows ? bytes : 0;
      return follows;
    }
  }

  private final ReadConnection connection;
  private final long leaseId;
  private final long deadlineNs;
  private final List<Read> reads;

  /** Blocks in the order of their last READs. */
  private final List<BlockRead> blocks;

  /** Number of {@link #blocks} that are delivered or wanted again. */
  private int passedOn;

  /** Blocks that wait for memory. */
  private List<BlockRead> waiting = List.of();

  private int posted;
  private long postedNs;
  private int done;

  /**
   * @param expected number of blocks
   */
  ReadBatch(ReadConnection connection, long leaseId, long deadlineNs, int expected) {
    this.reads = new ArrayList<>(expected);
    this.blocks = new ArrayList<>(expected);
    this.connection = connection;
    this.leaseId = leaseId;
    this.deadlineNs = deadlineNs;
  }

  ReadConnection connection() {
    return connection;
  }

  long leaseId() {
    return leaseId;
  }

  long deadlineNs() {
    return deadlineNs;
  }

  /** Adds READs of a piece into memory of its block. */
  void read(FetchedBlock memory, long address, long key, long offsetInBlock, int lengthBytes) {
    int from = 0;
    while (from < lengthBytes) {
      int bytes = Math.min(lengthBytes - from, memory.seek(offsetInBlock + from));
      add(address + from, key, memory.soughtChunk(), memory.soughtOffset(), bytes);
      from += bytes;
    }
  }

  private void add(long address, long key, RegisteredChunk chunk, int offset, int bytes) {
    int last = reads.size() - 1;
    boolean unposted = last >= posted;
    if (!unposted || !reads.get(last).append(address, key, chunk, offset, bytes)) {
      reads.add(new Read(this, address, key, chunk, offset, bytes));
    }
  }

  /** All located pieces of a block have READs; returns the index of the last one. */
  int add(BlockRead block) {
    blocks.add(block);
    return reads.size() - 1;
  }

  /** A block waits for memory. */
  void addWaiting(BlockRead block) {
    if (waiting.isEmpty()) {
      waiting = new ArrayList<>();
    }
    waiting.add(block);
  }

  void removeWaiting(BlockRead block) {
    waiting.remove(block);
  }

  /** The next READ to post; null without one. */
  Read nextRead() {
    return posted < reads.size() ? reads.get(posted) : null;
  }

  void onPosted(long nowNs) {
    if (posted == 0) {
      postedNs = nowNs;
    }
    posted++;
  }

  /** The next READ has completed; returns whether it was the first one. */
  boolean onReadDone() {
    return done++ == 0;
  }

  /** Time at which the first READ was posted. */
  long postedNs() {
    return postedNs;
  }

  /** The next block whose READs are done; null without one. */
  BlockRead pollDone() {
    if (passedOn < blocks.size() && blocks.get(passedOn).lastRead() < done) {
      return blocks.get(passedOn++);
    }
    return null;
  }

  /** Whether all of its READs are done and no block waits. */
  boolean isDone() {
    return waiting.isEmpty() && done == reads.size() && passedOn == blocks.size();
  }

  /** Adds the blocks whose READs are not done to a list. */
  void addUnfinished(List<BlockRead> to) {
    to.addAll(blocks.subList(passedOn, blocks.size()));
    to.addAll(waiting);
  }

  /** Bytes of READs that are posted and not done. */
  long bytesInFlight() {
    long bytes = 0;
    for (int i = done; i < posted; i++) {
      bytes += reads.get(i).lengthBytes();
    }
    return bytes;
  }
}
