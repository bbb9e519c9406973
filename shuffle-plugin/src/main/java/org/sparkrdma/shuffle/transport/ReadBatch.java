// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.fetch.FetchedBlock;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.verbs.WorkRequest;

/**
 * The READs of one answer, which has one lease. READs of a connection complete in the order in
 * which they were posted, so a block is whole when its last READ is done. Adjacent bytes are read
 * by one READ. Used for another answer when it is done. Confined to the agent.
 */
final class ReadBatch {
  private static final int SHORT_BYTES = 32;

  /** The smallest page; larger ones are multiples of it. */
  private static final int PAGE_BYTES = 4_096;

  private long leaseId;
  private long postUntilNs;

  // One entry for each READ, which is into a run of one chunk.

  private long[] addresses;
  private long[] keys;
  private RegisteredChunk[] chunks;
  private int[] offsets;
  private int[] lengths;
  private int reads;

  /** Blocks in the order of their last READs. */
  private final List<BlockFetch> blocks;

  /** Number of {@link #blocks} that are delivered or wanted again. */
  private int passedOn;

  private int posted;
  private long postedNs;
  private int done;

  /**
   * @param expected number of blocks
   */
  ReadBatch(int expected) {
    addresses = new long[expected];
    keys = new long[expected];
    chunks = new RegisteredChunk[expected];
    offsets = new int[expected];
    lengths = new int[expected];
    this.blocks = new ArrayList<>(expected);
  }

  /**
   * Begins an answer.
   *
   * @param newPostUntilNs early enough for the READs to end before the lease
   */
  void begin(long newLeaseId, long newPostUntilNs) {
    leaseId = newLeaseId;
    postUntilNs = newPostUntilNs;
  }

  /** It is done, and keeps nothing of a task that may have ended. */
  void clear() {
    Arrays.fill(chunks, 0, reads, null);
    blocks.clear();
    reads = 0;
    passedOn = 0;
    posted = 0;
    done = 0;
  }

  long leaseId() {
    return leaseId;
  }

  /** Time after which none of its READs is posted. */
  long postUntilNs() {
    return postUntilNs;
  }

  /** Adds a block, whose READs follow; returns the index of the first one, or a smaller one. */
  int add(BlockFetch block) {
    blocks.add(block);
    // The last one may get its first bytes, too.
    return Math.max(0, reads - 1);
  }

  /** Moves a block behind all READs; returns the index of the last one. */
  int addLast(BlockFetch block) {
    blocks.remove(block);
    blocks.add(block);
    return reads - 1;
  }

  /** Adds READs of an extent into memory of its block; returns the index of the last one. */
  int addReads(FetchedBlock memory, long address, long key, long offsetInBlock, int lengthBytes) {
    long skipped = offsetInBlock;
    int from = 0;
    for (int i = 0; from < lengthBytes; i++) {
      int segmentBytes = memory.lengthBytes(i);
      if (skipped >= segmentBytes) {
        skipped -= segmentBytes;
      } else {
        int bytes = (int) Math.min(lengthBytes - from, segmentBytes - skipped);
        add(address + from, key, memory.chunk(i), memory.offset(i) + (int) skipped, bytes);
        from += bytes;
        skipped = 0;
      }
    }
    return reads - 1;
  }

  private void add(long address, long key, RegisteredChunk chunk, int offset, int bytes) {
    int last = reads - 1;
    if (last >= posted
        && keys[last] == key
        && addresses[last] + lengths[last] == address
        && chunks[last] == chunk
        && offsets[last] + lengths[last] == offset
        && !isShortAcrossPages(address - lengths[last], lengths[last] + bytes)) {
      lengths[last] += bytes;
      return;
    }
    if (isShortAcrossPages(address, bytes)) {
      int firstBytes = PAGE_BYTES - (int) (address & (PAGE_BYTES - 1));
      append(address, key, chunk, offset, firstBytes);
      append(address + firstBytes, key, chunk, offset + firstBytes, bytes - firstBytes);
    } else {
      append(address, key, chunk, offset, bytes);
    }
  }

  /**
   * Whether the kernel's soft iWARP answers it with wrong bytes: siw_try_1seg in its siw_qp_tx.c,
   * which is for up to 32 bytes (MAX_HDR_INLINE), takes the number of bytes in the second page for
   * that in the first. Such READs are rare, so they are divided for every device.
   */
  private static boolean isShortAcrossPages(long address, int bytes) {
    return bytes <= SHORT_BYTES && (address & (PAGE_BYTES - 1)) + bytes > PAGE_BYTES;
  }

  private void append(long address, long key, RegisteredChunk chunk, int offset, int bytes) {
    if (reads == addresses.length) {
      grow();
    }
    addresses[reads] = address;
    keys[reads] = key;
    chunks[reads] = chunk;
    offsets[reads] = offset;
    lengths[reads] = bytes;
    reads++;
  }

  private void grow() {
    int size = 2 * reads;
    addresses = Arrays.copyOf(addresses, size);
    keys = Arrays.copyOf(keys, size);
    chunks = Arrays.copyOf(chunks, size);
    offsets = Arrays.copyOf(offsets, size);
    lengths = Arrays.copyOf(lengths, size);
  }

  /** Number of the next READ to post; negative without one. */
  int nextRead() {
    return posted < reads ? posted : -1;
  }

  /** Writes a READ into a work request with this id. */
  void write(int read, WorkRequest request, long id) {
    request
        .read(id, addresses[read], keys[read])
        .local(chunks[read].region(), chunks[read].regionOffset() + offsets[read], lengths[read]);
  }

  int lengthBytes(int read) {
    return lengths[read];
  }

  void onPosted(long nowNs) {
    if (posted == 0) {
      postedNs = nowNs;
    }
    posted++;
  }

  /**
   * The READs that are not posted never will be: their blocks use TCP, and what none writes is
   * free.
   */
  void endPosting() {
    for (int i = passedOn; i < blocks.size(); i++) {
      BlockFetch block = blocks.get(i);
      if (block.lastRead() >= posted) {
        block.leaveToTcp(FallbackReason.TIMEOUT, "no room for its READs in time");
        if (block.firstRead() >= posted) {
          block.freeMemory();
        }
      }
    }
    Arrays.fill(chunks, posted, reads, null);
    reads = posted;
  }

  /** The next READ has completed; returns its length. */
  int onReadDone() {
    return lengths[done++];
  }

  /** Number of READs that have completed. */
  int readsDone() {
    return done;
  }

  /** Time at which the first READ was posted. */
  long postedNs() {
    return postedNs;
  }

  /**
   * The next block whose READs are done; null without one. No READ writes to its memory any more.
   */
  BlockFetch pollDone() {
    if (passedOn < blocks.size() && (done == reads || blocks.get(passedOn).lastRead() < done)) {
      return blocks.get(passedOn++);
    }
    return null;
  }

  boolean hasDoneReads() {
    return done == reads;
  }

  /** Whether all of its READs are done, and its blocks are passed on. */
  boolean isDone() {
    return hasDoneReads() && passedOn == blocks.size();
  }

  /** Adds the chunks of its blocks that are not passed on. */
  void addHeldChunks(Set<RegisteredChunk> to) {
    for (int i = passedOn; i < blocks.size(); i++) {
      FetchedBlock memory = blocks.get(i).memory();
      if (memory != null) {
        memory.addChunks(to);
      }
    }
  }

  /** The connection is broken: its blocks use TCP, and READs may still write their memory. */
  void leaveToTcp(FallbackReason reason, String detail) {
    for (int i = passedOn; i < blocks.size(); i++) {
      blocks.get(i).leaveToTcp(reason, detail);
    }
  }

  /** The queue pair is destroyed: no READ writes memory any more. */
  void freeMemory() {
    for (int i = passedOn; i < blocks.size(); i++) {
      blocks.get(i).freeMemory();
    }
  }
}
