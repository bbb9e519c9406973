// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.settings.ExecutorNeeds;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.Transport;

/**
 * Creates at the start what an executor needs at least, so that a machine without room for it is
 * reported at once, with what to do. Stateless.
 */
public final class Preflight {
  private static final Logger LOG = LoggerFactory.getLogger(Preflight.class);
  private static final long WINDOW_BYTES = 256 << 10;

  /** See errno(3). */
  private static final int EPERM = 1;

  private static final int EAGAIN = 11;
  private static final int EACCES = 13;
  private static final int EFAULT = 14;

  /** Below this part of the needed memory a warning is logged. */
  private static final int WARN_PART = 4;

  private final Map<String, String> environment;
  private final Path root;

  /** Creates the test for this process. */
  public Preflight() {
    this(System.getenv(), Path.of("/"));
  }

  Preflight(Map<String, String> environment, Path root) {
    this.environment = Map.copyOf(environment);
    this.root = root;
  }

  /**
   * Holds at the same time what an executor with one connection needs: protection domains, a
   * completion channel, a completion queue and a queue pair of real size, the regions of message
   * buffers, and a region each for receive memory and a window. Then it frees all again.
   *
   * @throws VerbsException when the device refuses one of them, with the reason and what to do
   */
  public void check(
      Device device,
      PinnedBudget budget,
      PinnedLimit limit,
      MachineMemory machine,
      ExecutorNeeds needs)
      throws VerbsException {
    limit.warnings().forEach(objection -> LOG.warn("{}", objection));
    checkDepth(device.info(), needs);
    if (device.info().transport() == Transport.LOOPBACK) {
      // It pins nothing, so no limit applies.
      return;
    }
    long fixedBytes = needs.ringBytes() + needs.messageBytes();
    long room = budget.limitBytes() - fixedBytes;
    long windowBytes = Math.min(WINDOW_BYTES, room / 2);
    long sinkBytes = Math.min(needs.sinkBytes(), room - windowBytes);
    PinnedBudget.Grant grant =
        windowBytes < 1 ? null : budget.tryGrant(fixedBytes + sinkBytes + windowBytes).orElse(null);
    if (grant == null) {
      // The transport reports that the limit is too low.
      return;
    }
    try (HeldObjects held = new HeldObjects(device)) {
      held.create(needs, sinkBytes, windowBytes);
      LOG.debug("There is room for what an executor needs: {}", needs);
    } catch (VerbsException e) {
      throw new VerbsException(
          e.call(), e.errno(), sentence(e, device.info().name(), limit, machine, needs), e);
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

  /**
   * Rejects a device whose queue pairs have too few entries.
   *
   * @throws VerbsException another device may have more entries
   */
  public static void checkDepth(DeviceInfo device, ExecutorNeeds needs) throws VerbsException {
    int depth = Math.max(needs.sendDepth(), needs.receiveDepth());
    int limit = device.limits().maxQueuePairDepth();
    if (depth > limit) {
      throw new VerbsException(
          "ibv_create_qp",
          "the queue pairs of device "
              + device.name()
              + (" have at most " + limit + " entries, and a connection needs " + depth));
    }
  }

  private String sentence(
      VerbsException refused,
      String device,
      PinnedLimit limit,
      MachineMemory machine,
      ExecutorNeeds needs) {
    String call = "call=" + refused.call() + " errno=" + refused.errno();
    Optional<ObjectLimit> objects =
        ObjectLimit.of(device, new ControlGroups(new SystemFiles(root)).rdmaLimits());
    if (refused.errno() == EAGAIN && objects.isPresent()) {
      return objects.get().sentence(needs.objects()) + ": " + call;
    }
    if (refused.errno() == VerbsException.ENOMEM && machine.memlockLimit().isEmpty()) {
      return "the device or the kernel has no room for an executor: "
          + call
          + " RLIMIT_MEMLOCK=unlimited: start fewer executors on this host; dmesg may have a line of"
          + " the device's driver";
    }
    String what = "memory cannot be registered: " + call;
    return switch (refused.errno()) {
      case VerbsException.ENOMEM, EPERM, EAGAIN, EACCES ->
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
