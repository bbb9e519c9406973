// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.device;

import java.util.EnumSet;
import java.util.Set;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.ServeSettings.Mode;
import org.sparkrdma.shuffle.wire.Messages;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.TransportType;

/**
 * What follows for the shuffle from what a device can do, which its engine reports. Immutable.
 *
 * @param device attributes from its engine
 */
public record DeviceFitness(DeviceInfo device) {
  private static final int MAX_READ_DEPTH = 16;

  /**
   * Rejects a device that cannot keep strangers out of a fabric that is not trusted.
   *
   * @throws VerbsException that names the setting which allows the device
   */
  public void require(boolean fabricTrusted) throws VerbsException {
    if (fabricTrusted || withholdsAccess()) {
      return;
    }
    String reason =
        limitsAccess()
            ? " may give a peer remote access before the peer is proven, because it was not seen yet"
                + " that its driver withholds it (vendor_id="
                + (device.reported().get("vendor_id") + ", ./card shows it)")
            : " gives a peer remote access before the peer is proven, because engine "
                + device.engine()
                + " cannot change the access of its connected queue pairs";
    throw new VerbsException(
        "listen",
        "device "
            + device.name()
            + reason
            + "; set spark.shuffle.rdma.fabric.trusted=true if every host of the fabric is trusted");
  }

  /** Whether it is known to give a peer no remote access before the peer is proven. */
  public boolean withholdsAccess() {
    return device.can(Capability.WITHHOLDS_ACCESS);
  }

  /** Whether a queue pair limits the access of its peer, and the limit can change. */
  public boolean limitsAccess() {
    return device.can(Capability.QUEUE_PAIR_ACCESS);
  }

  /** Whether a request to connect contains the initiator's queue pair, as both ends see it. */
  public boolean namesQueuePair() {
    return device.can(Capability.REQUEST_HAS_QUEUE_PAIR);
  }

  /** Whether tasks may post while the agent polls. */
  public boolean tasksPost() {
    return device.can(Capability.POST_BESIDE_POLL);
  }

  /** Whether rings of queues are pinned, as by all drivers of hardware. */
  public boolean pinsRings() {
    return device.transport() != TransportType.LOOPBACK;
  }

  /** Maximum READs that the devices of both ends have outstanding per queue pair. */
  public int readDepth() {
    return Math.min(MAX_READ_DEPTH, device.limits().maxReadsInFlight());
  }

  /** Private data of a rejection for want of room; empty where the device sends none. */
  public byte[] full() {
    return device.limits().maxPrivateDataBytes() > 0 ? new byte[] {Messages.FULL} : new byte[0];
  }

  /** Access of the memory that READs write. */
  public Set<AccessFlag> sinkAccess(boolean relaxedOrdering) {
    return relaxedOrdering
        ? Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.RELAXED_ORDERING)
        : Set.of(AccessFlag.LOCAL_WRITE);
  }

  /** Whether map-output files are registered. */
  public boolean registersFiles(ServeSettings settings) {
    return settings.mode() != Mode.COPY && device.can(Capability.FILE_REGIONS);
  }

  /** Whether their windows page on demand. */
  public boolean pagesOnDemand(ServeSettings settings) {
    return settings.mode() == Mode.ODP && device.can(Capability.ON_DEMAND_PAGING);
  }

  /** Access of their windows. */
  public Set<AccessFlag> fileAccess(ServeSettings settings) {
    return pagesOnDemand(settings)
        ? EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.ON_DEMAND)
        : EnumSet.of(AccessFlag.REMOTE_READ);
  }

  /**
   * Whether files whose registration makes the kernel write them are copied instead: a registration
   * pins their pages, and these settings allow copies.
   */
  public boolean mayCopyInsteadOfPinning(ServeSettings settings) {
    return settings.mode() != Mode.WINDOW
        && device.transport() != TransportType.LOOPBACK
        && !pagesOnDemand(settings);
  }

  /** Windows of map-output files: half of its regions, for pools and processes need some, too. */
  public int maxWindows() {
    return Math.max(1, device.limits().maxMemoryRegions() / 2);
  }
}
