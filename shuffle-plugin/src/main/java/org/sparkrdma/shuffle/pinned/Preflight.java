// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;

/**
 * Creates at the start what the first connection needs, so that a machine without room for it is
 * reported at once, with what to do. Stateless.
 */
public final class Preflight {
  private static final Logger LOG = LoggerFactory.getLogger(Preflight.class);

  /** See errno(3). */
  private static final Set<Integer> NO_ROOM = Set.of(1, 11, VerbsException.ENOMEM, 13);

  /** Below this part of the needed memory a warning is logged. */
  private static final int WARN_PART = 4;

  private Preflight() {}

  /**
   * Holds at the same time a protection domain, a completion queue, a region of memory and a queue
   * pair, each as large as an executor's. Then it frees all again. A loopback device pins nothing,
   * so no limit applies.
   *
   * @throws VerbsException when the device refuses one of them, with the reason and what to do
   */
  public static void check(
      Device device,
      PinnedBudget budget,
      PinnedLimit limit,
      MachineMemory machine,
      MemoryShares shares)
      throws VerbsException {
    if (!shares.pinsRings()) {
      return;
    }
    long ringBytes = shares.firstRingBytes();
    long memoryBytes = Math.min(shares.firstBytes(), budget.limitBytes() - ringBytes);
    Optional<PinnedBudget.Grant> grant =
        memoryBytes < 1 ? Optional.empty() : budget.tryGrant(ringBytes + memoryBytes);
    if (grant.isEmpty()) {
      // The transport reports that the limit is too low.
      return;
    }
    try (PinnedBudget.Grant held = grant.get()) {
      create(device, shares, memoryBytes);
      LOG.debug("There is room for a connection in {} bytes", held.heldBytes());
    } catch (VerbsException e) {
      throw new VerbsException(e.call(), e.errno(), sentence(e, limit, machine), e);
    }
    if (limit.bytes() < limit.neededBytes() / WARN_PART) {
      LOG.warn(
          "RDMA may pin very little memory; many blocks will use TCP: limitBytes={}: {}",
          limit.bytes(),
          MachineMemory.memlockRemedy(limit.neededBytes()));
    }
  }

  private static void create(Device device, MemoryShares shares, long memoryBytes)
      throws VerbsException {
    try (ProtectionDomain domain = device.allocateProtectionDomain();
        CompletionChannel channel = device.createCompletionChannel();
        CompletionQueue queue = device.createCompletionQueue(shares.queueDepth(), channel);
        HostMemory memory = device.allocate(memoryBytes);
        MemoryRegion region =
            domain.register(memory, 0, memoryBytes, Set.of(AccessFlag.LOCAL_WRITE))) {
      LOG.debug("Registered as a test: lengthBytes={}", region.lengthBytes());
      domain.testQueuePair(
          new QueuePairSettings(
              queue, queue, MemoryShares.READER_SENDS, MemoryShares.READER_RECEIVES, 1, Set.of()));
    }
  }

  private static String sentence(VerbsException refused, PinnedLimit limit, MachineMemory machine) {
    String what =
        "memory cannot be registered: call=" + refused.call() + " errno=" + refused.errno();
    if (!NO_ROOM.contains(refused.errno())) {
      return what + ": " + refused.getMessage();
    }
    OptionalLong lockable = machine.lockableBytes();
    return lockable.isPresent()
        ? what
            + (" RLIMIT_MEMLOCK=" + lockable.getAsLong())
            + (" neededBytes=" + limit.neededBytes() + ": ")
            + MachineMemory.memlockRemedy(limit.neededBytes())
        : what
            + " RLIMIT_MEMLOCK=unlimited: the device, the kernel or the control group has no room:"
            + " start fewer executors on this host, or raise hca_object in rdma.max of the group";
  }
}
