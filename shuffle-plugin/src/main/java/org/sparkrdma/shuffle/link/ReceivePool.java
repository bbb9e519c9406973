// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.link;

import java.util.ArrayDeque;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.device.Transport;

/**
 * Receive memory, first come, first served: a block gets memory for all of its bytes at once, or
 * waits for at most a second, then it uses TCP. Blocks of successive answers share chunks. Confined
 * to the agent; any thread releases {@link ReceivedBlock}s.
 */
final class ReceivePool implements AutoCloseable {
  /** Maximum wait of a block. */
  static final long MAX_WAIT_NS = 1_000_000_000;

  private static final int SLAB_BYTES = 4 << 20;

  /** Part of the budget that receive memory leaves to others. */
  private static final int SERVE_PART = 8;

  private final RegisteredPool pool;
  private final ArrayDeque<BlockRead> waiting = new ArrayDeque<>();

  /** The chunk from which blocks take their memory now, and its first free byte; null without. */
  private RegisteredChunk open;

  private int position;

  ReceivePool(
      Device device,
      ProtectionDomain domain,
      PinnedBudget budget,
      TransportSettings settings,
      LongSupplier nanoClock) {
    pool =
        new RegisteredPool(
            device,
            domain,
            budget,
            access(device.info().transport(), settings),
            settings.chunkBytes(),
            slabChunks(budget, settings),
            bytes(budget, settings),
            nanoClock);
    // Leases of slow peers leave half of the pool's maximum to this executor's readers.
    budget.reserve(bytes(budget, settings) / 2);
  }

  private static long bytes(PinnedBudget budget, TransportSettings settings) {
    return Math.min(settings.poolBytes(), budget.limitBytes() - budget.limitBytes() / SERVE_PART);
  }

  /** Chunks that are registered with one call. */
  static int slabChunks(PinnedBudget budget, TransportSettings settings) {
    long slabBytes = Math.min(SLAB_BYTES, bytes(budget, settings) / 4);
    return (int) Math.max(1, slabBytes / settings.chunkBytes());
  }

  private static Set<AccessFlag> access(Transport transport, TransportSettings settings) {
    EnumSet<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE);
    if (transport == Transport.IWARP) {
      // RFC 5040, section 5.2: the sink of a READ is written by the peer's RDMA READ Response.
      access.add(AccessFlag.REMOTE_WRITE);
    }
    if (settings.relaxedOrdering()) {
      access.add(AccessFlag.RELAXED_ORDERING);
    }
    return access;
  }

  /** Whether a block of this length can ever be received. */
  boolean canFit(long lengthBytes) {
    return lengthBytes <= pool.limitBytes();
  }

  /** Length of a chunk, and the maximum of a READ. */
  int chunkBytes() {
    return pool.chunkBytes();
  }

  /**
   * Fills a block with memory, unless others wait.
   *
   * @return false when the block must wait
   */
  boolean tryFill(ReceivedBlock block) {
    return waiting.isEmpty() && fill(block);
  }

  private boolean fill(ReceivedBlock block) {
    if (block.lengthBytes() > openRoom() + pool.availableBytes()) {
      pool.reportShortage(block.lengthBytes());
      return false;
    }
    long left = block.lengthBytes();
    while (left > 0) {
      if (openRoom() == 0 && !openNext()) {
        // Windows have taken the memory meanwhile, or the device refuses more.
        block.release();
        return false;
      }
      int bytes = (int) Math.min(left, openRoom());
      block.add(open, position, bytes);
      position += bytes;
      left -= bytes;
    }
    return true;
  }

  private int openRoom() {
    return open == null ? 0 : open.lengthBytes() - position;
  }

  private boolean openNext() {
    Optional<RegisteredChunk> taken = pool.tryTake();
    closeOpenChunk();
    open = taken.orElse(null);
    return open != null;
  }

  private void closeOpenChunk() {
    if (open != null) {
      open.release();
      open = null;
      position = 0;
    }
  }

  /** A block waits. */
  void await(BlockRead block) {
    waiting.add(block);
  }

  /** Whether blocks wait. */
  boolean hasWaiting() {
    return !waiting.isEmpty();
  }

  /** Gives memory to the blocks that wait, in order, and sends those that waited long to TCP. */
  int serveWaiting(long nowNs) {
    int served = 0;
    while (!waiting.isEmpty()) {
      BlockRead first = waiting.peek();
      if (first.waitsForMemory()) {
        boolean filled = fill(first.memory());
        if (!filled && nowNs - first.sinceNs() < MAX_WAIT_NS) {
          return served;
        }
        first.batch().connection().onMemory(first, filled, nowNs);
      }
      waiting.poll();
      served++;
    }
    return served;
  }

  /** Deregisters memory that was unused since the last call. */
  void trim() {
    closeOpenChunk();
    pool.trimUnused();
  }

  /** Chunks in use. */
  int chunksOut() {
    return pool.chunksOut();
  }

  @Override
  public void close() {
    closeOpenChunk();
    pool.close();
  }
}
