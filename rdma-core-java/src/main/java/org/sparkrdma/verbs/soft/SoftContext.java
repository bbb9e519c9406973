// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.security.SecureRandom;
import org.sparkrdma.verbs.soft.faults.FaultPlan;
import org.sparkrdma.verbs.soft.faults.Network;
import org.sparkrdma.verbs.soft.shared.AddressSpace;
import org.sparkrdma.verbs.soft.shared.FileLinks;
import org.sparkrdma.verbs.soft.shared.HostIdentity;
import org.sparkrdma.verbs.soft.shared.KeyAllocator;
import org.sparkrdma.verbs.soft.shared.ProcessIdentity;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/**
 * Objects that the parts of a device share; no part refers to the device itself. Closed by the
 * device.
 *
 * @param directory, and all to {@code addresses}, are the state that other processes see: safe for
 *     any thread
 * @param loop the device's work; its Javadoc names the methods that are safe for any thread
 * @param faults safe for any thread
 * @param network guarded by the lock of the loop, as the next two
 */
record SoftContext(
    SoftSettings settings,
    HostIdentity host,
    ProcessIdentity self,
    SharedDirectory directory,
    SharedTable table,
    FileLinks links,
    KeyAllocator regionKeys,
    KeyAllocator queuePairNumbers,
    AddressSpace addresses,
    DeviceLoop loop,
    FaultPlan faults,
    Network network,
    OneSided oneSided,
    SoftPeers peers)
    implements AutoCloseable {

  /** Creates a directory with a table, which peers see, and starts the helper of the device. */
  static SoftContext open(SoftSettings settings, HostIdentity host, boolean copiesReads)
      throws IOException {
    ProcessIdentity self = ProcessIdentity.self();
    SharedDirectory directory = SharedDirectory.create(settings.directory(), host, self);
    var random = new SecureRandom();
    byte[] secret = new byte[SharedTable.SECRET_BYTES];
    random.nextBytes(secret);
    boolean opened = false;
    try {
      var table = SharedTable.create(directory.path().resolve(SharedDirectory.TABLE), secret);
      var loop = new DeviceLoop("soft-rdma-" + SoftDevice.NAME, table);
      FaultPlan faults = FaultPlan.parse(settings.faults());
      var context =
          new SoftContext(
              settings,
              host,
              self,
              directory,
              table,
              new FileLinks(directory),
              KeyAllocator.ofRegions(random.nextLong()),
              KeyAllocator.ofQueuePairs(),
              new AddressSpace(),
              loop,
              faults,
              new Network(settings.latencyNs(), faults),
              new OneSided(loop, copiesReads),
              new SoftPeers(loop, directory, self, settings.peerCheckNs()));
      loop.start();
      opened = true;
      return context;
    } finally {
      if (!opened) {
        // The device may be opened again.
        directory.close();
      }
    }
  }

  @Override
  public void close() {
    loop.call(peers::closeAll);
    loop.stop();
    directory.close();
  }
}
