// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.EnumSet;
import java.util.Set;
import java.util.function.LongSupplier;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.fetch.ReceivePool;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Transport;

/**
 * Memory of a transport: the receive pool and the buffers of control messages. The pools are safe
 * for any thread, the control buffers belong to the agent; closed after the agent has ended.
 */
final class TransportMemory implements AutoCloseable {
  private static final int SLAB_BYTES = 4 << 20;

  /** Part of the budget that receive memory leaves to others. */
  private static final int SERVE_PART = 8;

  /** Part of the budget beyond which control buffers grow only with connections. */
  private static final int CREDITS_PART = 8;

  /** Messages for which the budget must have memory, at least. */
  private static final int MIN_MESSAGES = 8;

  /** Memory for READs. */
  final RegisteredPool sinks;

  private final ReceivePool receive;

  /** Memory of the control buffers. */
  final RegisteredPool controlPool;

  private final ControlBuffers control;

  /**
   * @param nanoClock as {@link System#nanoTime}
   */
  TransportMemory(
      Device device,
      ProtectionDomain domain,
      PinnedBudget budget,
      TransportSettings settings,
      ShuffleCounters counters,
      LongSupplier nanoClock) {
    sinks = sinkPool(device, domain, budget, settings, nanoClock);
    receive = new ReceivePool(sinks, counters);
    controlPool =
        new RegisteredPool(
            device,
            domain,
            budget,
            Set.of(AccessFlag.LOCAL_WRITE),
            settings.messageBytes(),
            controlSlabBuffers(budget, settings),
            controlBytes(settings),
            nanoClock);
    control = new ControlBuffers(controlPool, budget.limitBytes() / CREDITS_PART);
    // Leases of slow peers leave half of the receive pool's maximum to this executor's readers.
    budget.reserve(receiveBytes(budget, settings) / 2);
  }

  /**
   * Rejects a limit of pinned memory, derived or set, under which nothing could be read or served.
   *
   * @throws VerbsException that names the setting to reduce
   */
  static void check(PinnedBudget budget, TransportSettings settings, ServeSettings serve)
      throws VerbsException {
    boolean reads = receiveBytes(budget, settings) >= 2L * settings.chunkBytes();
    boolean serves =
        serve.mode() != ServeSettings.Mode.COPY || budget.limitBytes() >= 4L * serve.slotBytes();
    boolean sends = budget.limitBytes() >= (long) MIN_MESSAGES * settings.messageBytes();
    if (!sends) {
      throw tooLittle(budget, "messageBytes=" + settings.messageBytes());
    }
    if (!reads) {
      throw tooLittle(budget, "chunk.size=" + settings.chunkBytes());
    }
    if (!serves) {
      throw tooLittle(budget, "copy.slot.size=" + serve.slotBytes());
    }
  }

  private static VerbsException tooLittle(PinnedBudget budget, String reduce) {
    return new VerbsException(
        "register",
        "the memory that this executor may pin, "
            + budget.limitBytes()
            + " bytes, is too little: reduce spark.shuffle.rdma."
            + reduce
            + ", or raise spark.shuffle.rdma.pinned.max");
  }

  /** Maximum receive memory: an eighth of the budget is left to windows and control buffers. */
  private static long receiveBytes(PinnedBudget budget, TransportSettings settings) {
    return Math.min(settings.poolBytes(), budget.limitBytes() - budget.limitBytes() / SERVE_PART);
  }

  private static RegisteredPool sinkPool(
      Device device,
      ProtectionDomain domain,
      PinnedBudget budget,
      TransportSettings settings,
      LongSupplier nanoClock) {
    return new RegisteredPool(
        device,
        domain,
        budget,
        sinkAccess(device.info().transport(), settings),
        settings.chunkBytes(),
        sinkSlabChunks(budget, settings),
        receiveBytes(budget, settings),
        nanoClock);
  }

  /** Chunks of receive memory that are registered with one call. */
  static int sinkSlabChunks(PinnedBudget budget, TransportSettings settings) {
    long slabBytes = Math.min(SLAB_BYTES, receiveBytes(budget, settings) / 4);
    return (int) Math.max(1, slabBytes / settings.chunkBytes());
  }

  /** Access flags of memory for READs. */
  static Set<AccessFlag> sinkAccess(Transport transport, TransportSettings settings) {
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

  /**
   * Control buffers that are registered with one call: those of a page. The receives that a
   * connection keeps when its load ends may be any of its buffers, so larger slabs would stay
   * registered for a few of theirs.
   */
  static int controlSlabBuffers(PinnedBudget budget, TransportSettings settings) {
    return (int) Math.max(1, budget.pageBytes() / settings.messageBytes());
  }

  /** Maximum memory of control buffers, with every connection at its limits. */
  private static long controlBytes(TransportSettings settings) {
    long buffers = settings.receiveDepth() + 2L * settings.requestsOpen() + 1;
    return (settings.maxConnections() * buffers + ControlBuffers.RESERVE) * settings.messageBytes();
  }

  /** Memory for READs. */
  ReceivePool receive() {
    return receive;
  }

  /** Buffers of control messages. */
  ControlBuffers control() {
    return control;
  }

  /** Number of chunks that are still in use. */
  int chunksOut() {
    return sinks.chunksOut() + controlPool.chunksOut();
  }

  @Override
  public void close() {
    control.close();
    controlPool.close();
    receive.closeOpenChunk();
    sinks.close();
  }
}
