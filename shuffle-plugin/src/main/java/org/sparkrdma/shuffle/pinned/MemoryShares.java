// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.util.Optional;
import org.sparkrdma.shuffle.device.DeviceFitness;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.verbs.VerbsException;

/**
 * Who may pin how much of the limit of an executor ({@link PinnedLimit}), and the sizes of messages
 * and queues that follow from it. Each of them takes grants of one budget, so these are limits and
 * not reservations; but the server leaves a half of the receive memory free. Immutable.
 *
 * @param limitBytes limit of the budget
 * @param receiveMaxBytes maximum memory for blocks that are received
 * @param chunkBytes length of a chunk of receive memory, a power of two
 * @param maxMessageBuffers maximum number of buffers of messages
 * @param queueDepth capacity of each completion queue
 * @param pinsRings whether rings of queues are pinned; kernels charge them to RLIMIT_MEMLOCK
 */
public record MemoryShares(
    long limitBytes,
    long receiveMaxBytes,
    int chunkBytes,
    int maxMessageBuffers,
    int queueDepth,
    boolean pinsRings) {
  /** Length of a message's buffer: a LOCATE of 128 blocks, or a LOCATED of as many with sums. */
  public static final int MESSAGE_BYTES = 8 << 10;

  /** Buffers of messages that are registered with one call, also the first one. */
  public static final int BUFFERS_PER_REGION = 8;

  /** Answers that a server may write or send at a time, for all peers together that take theirs. */
  public static final int MAX_ANSWERS = 64;

  /** Entries for sends and READs of a reader's queue pair. A power of two fills its ring. */
  public static final int READER_SENDS = 64;

  /** Entries for its receives, and number of its messages. */
  public static final int READER_RECEIVES = 3;

  /** Six of the reader's end, three of the server's, one of its set-up, and three stuck answers. */
  private static final int MAX_BUFFERS_PER_PEER = 13;

  private static final int MIN_MESSAGES = 16;

  /** Chunks of copies: one for each of the readers that share them. */
  private static final long MIN_COPIES = 4;

  /** Approximate number of bytes that are registered with one call. */
  public static final int REGION_BYTES = 4 << 20;

  /** Part of a server's memory that windows leave to copies. */
  public static final int COPY_PART = 4;

  /** Part of the budget that receive memory leaves to others. */
  private static final int SERVE_PART = 8;

  /** With the entry that mlx5 and mlx4 add, a power of two (rdma-core, mlx5_create_cq). */
  private static final int MAX_QUEUE_DEPTH = 4_095;

  /** Bytes of a completion or a receive, and of a send, as of mlx5 (rdma-core, sq_overhead). */
  private static final int ENTRY_BYTES = 64;

  private static final int SEND_ENTRY_BYTES = 256;

  /**
   * Derives them.
   *
   * @param limitBytes limit of the budget
   */
  public static MemoryShares of(
      TransportSettings settings, DeviceFitness fitness, long limitBytes) {
    Optional<Long> set = settings.poolBytes();
    long receiveBytes = Math.min(set.orElse(limitBytes / 2), limitBytes - limitBytes / SERVE_PART);
    // At least four chunks in all, and two in the pool and in flight.
    long chunkBytes =
        Math.min(limitBytes / 4, Math.min(receiveBytes, settings.readBytesInFlight()) / 2);
    int depth = Math.min(MAX_QUEUE_DEPTH, fitness.device().limits().maxCompletionQueueDepth());
    return new MemoryShares(
        limitBytes,
        receiveBytes,
        (int) Math.min(settings.chunkBytes(), Math.max(1, Long.highestOneBit(chunkBytes))),
        settings.maxConnections() * MAX_BUFFERS_PER_PEER + MAX_ANSWERS,
        Math.max(depth, READER_SENDS + READER_RECEIVES),
        fitness.pinsRings());
  }

  /**
   * Rejects a limit under which nothing could be read or served.
   *
   * @throws VerbsException that names the setting to raise
   */
  public void require(ServeSettings serve) throws VerbsException {
    boolean sends = limitBytes >= MIN_MESSAGES * MESSAGE_BYTES;
    boolean reads = receiveMaxBytes >= 2L * chunkBytes;
    boolean serves = limitBytes - receiveKeptBytes() >= MIN_COPIES * serve.chunkBytes();
    if (sends && reads && serves) {
      return;
    }
    throw new VerbsException(
        "register",
        "the memory that this executor may pin, "
            + limitBytes
            + " bytes, is too little: raise spark.shuffle.rdma.pinned.max");
  }

  /** Receive memory that leases of slow peers leave to this executor's readers. */
  public long receiveKeptBytes() {
    return receiveMaxBytes / 2;
  }

  /** Chunks of receive memory that are registered with one call. */
  public int chunksPerRegion() {
    long regionBytes = Math.min(REGION_BYTES, receiveMaxBytes / 4);
    return (int) Math.max(1, regionBytes / chunkBytes);
  }

  /** Memory that the first connection registers at least. */
  long firstBytes() {
    return BUFFERS_PER_REGION * MESSAGE_BYTES + (long) chunksPerRegion() * chunkBytes;
  }

  /** Bytes of the rings that the first connection needs. */
  long firstRingBytes() {
    return queueRingBytes() + ringBytes(READER_SENDS, READER_RECEIVES);
  }

  /** Bytes of the ring of a completion queue: a power of two of entries. */
  public long queueRingBytes() {
    return ringBytes(queueDepth + 1);
  }

  /** Bytes of the rings of a queue pair with so many entries. */
  public static long ringBytes(int sends, int receives) {
    return SEND_ENTRY_BYTES / ENTRY_BYTES * ringBytes(sends) + ringBytes(receives);
  }

  private static long ringBytes(int entries) {
    return (long) ENTRY_BYTES * (entries <= 1 ? 1 : Integer.highestOneBit(entries - 1) << 1);
  }
}
