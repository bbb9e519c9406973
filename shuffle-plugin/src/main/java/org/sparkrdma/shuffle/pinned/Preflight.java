// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.settings.RingSizes;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Transport;

/**
 * Registers a small region and creates a completion queue at the start, so that a machine that
 * cannot register memory is reported at once, with what to do. Stateless.
 */
public final class Preflight {
  private static final Logger LOG = LoggerFactory.getLogger(Preflight.class);
  private static final long TRIED_BYTES = 256 << 10;

  /** See errno(3). */
  private static final int EPERM = 1;

  private static final int EAGAIN = 11;
  private static final int ENOMEM = 12;
  private static final int EACCES = 13;
  private static final int EFAULT = 14;

  /** Below this part of the needed memory a warning is logged. */
  private static final int WARN_PART = 4;

  private final Map<String, String> environment;
  private final Path root;

  /** In this process. */
  public Preflight() {
    this(System.getenv(), Path.of("/"));
  }

  Preflight(Map<String, String> environment, Path root) {
    this.environment = Map.copyOf(environment);
    this.root = root;
  }

  /**
   * Registers a small region and as much as the rings of a queue pair, and creates a completion
   * queue of real size, whose ring drivers of hardware pin; then destroys all again. A queue pair
   * itself needs a connection.
   *
   * @throws VerbsException when registration fails, with the reason and what to do
   */
  public void check(
      Device device, PinnedBudget budget, PinnedLimit limit, MachineMemory machine, RingSizes rings)
      throws VerbsException {
    limit.warnings().forEach(objection -> LOG.warn("{}", objection));
    if (device.info().transport() == Transport.LOOPBACK) {
      // It pins nothing, so no limit applies.
      return;
    }
    long lengthBytes = Math.min(TRIED_BYTES + rings.queuePairBytes(), budget.limitBytes());
    PinnedBudget.Grant grant = budget.tryGrant(lengthBytes).orElse(null);
    if (grant == null) {
      return;
    }
    try {
      register(device, lengthBytes, rings.completionQueueDepth());
    } catch (VerbsException e) {
      throw new VerbsException(e.call(), e.errno(), sentence(e, limit, machine), e);
    } finally {
      grant.close();
    }
    if (limit.bytes() < limit.neededBytes() / WARN_PART) {
      LOG.warn(
          "RDMA may pin only little memory; many blocks will use TCP: RLIMIT_MEMLOCK={} neededBytes={}:"
              + " {}",
          limitInWords(machine),
          limit.neededBytes(),
          MemlockRemedy.sentences(environment, root, limit.neededBytes()));
    }
  }

  private static void register(Device device, long lengthBytes, int completionQueueDepth)
      throws VerbsException {
    try (ProtectionDomain domain = device.allocateProtectionDomain();
        HostMemory memory = device.allocate(lengthBytes);
        MemoryRegion region =
            domain.register(memory, 0, lengthBytes, Set.of(AccessFlag.LOCAL_WRITE));
        CompletionQueue queue = device.createCompletionQueue(completionQueueDepth, null)) {
      LOG.debug(
          "Memory can be registered: lengthBytes={} completions={}",
          region.lengthBytes(),
          queue.capacity());
    }
  }

  private String sentence(VerbsException refused, PinnedLimit limit, MachineMemory machine) {
    String what =
        "memory cannot be registered: call=" + refused.call() + " errno=" + refused.errno();
    return switch (refused.errno()) {
      case ENOMEM, EPERM, EAGAIN, EACCES ->
          what
              + " RLIMIT_MEMLOCK="
              + limitInWords(machine)
              + " neededBytes="
              + limit.neededBytes()
              + ": "
              + MemlockRemedy.sentences(environment, root, limit.neededBytes());
      case EFAULT ->
          what
              + ": the kernel cannot pin this process's memory for the device; see dmesg for the"
              + " device's driver, or select another device with spark.shuffle.rdma.device";
      default -> what + ": " + refused.getMessage();
    };
  }

  private static String limitInWords(MachineMemory machine) {
    return machine.memlockLimit().isPresent()
        ? Long.toString(machine.memlockLimit().getAsLong())
        : "unlimited";
  }
}
