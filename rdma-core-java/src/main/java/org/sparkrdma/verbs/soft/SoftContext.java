// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import org.sparkrdma.verbs.soft.faults.FaultPlan;
import org.sparkrdma.verbs.soft.faults.Network;
import org.sparkrdma.verbs.soft.shared.HostIdentity;
import org.sparkrdma.verbs.soft.shared.SharedState;

/**
 * Objects that the parts of a device share; no part refers to the device itself. Closed by the
 * device.
 *
 * @param shared the state visible to other processes; safe for any thread
 * @param loop the device's work; its Javadoc names the methods that are safe for any thread
 * @param faults safe for any thread
 * @param network guarded by the lock of the loop
 * @param oneSided guarded by the lock of the loop
 * @param peers guarded by the lock of the loop
 */
record SoftContext(
    SoftSettings settings,
    SharedState shared,
    DeviceLoop loop,
    FaultPlan faults,
    Network network,
    OneSided oneSided,
    SoftPeers peers)
    implements AutoCloseable {

  /** Creates the shared state and starts the helper of the device. */
  static SoftContext open(SoftSettings settings, HostIdentity host, boolean copiesReads)
      throws IOException {
    SharedState shared = SharedState.create(settings.directory(), host);
    boolean opened = false;
    try {
      var loop = new DeviceLoop("soft-rdma-" + SoftDevice.NAME, shared.table(), Thread::new);
      FaultPlan faults = FaultPlan.parse(settings.faults());
      var context =
          new SoftContext(
              settings,
              shared,
              loop,
              faults,
              new Network(settings.latencyNs(), settings.bytesPerSecond(), faults),
              new OneSided(loop, copiesReads),
              new SoftPeers(
                  loop,
                  shared.directory(),
                  shared.self(),
                  settings.maxOpenFiles(),
                  settings.peerCheckNs()));
      loop.start();
      opened = true;
      return context;
    } finally {
      if (!opened) {
        // After a refused thread too: the device may be opened again.
        shared.close();
      }
    }
  }

  @Override
  public void close() {
    loop.call(peers::closeAll);
    loop.stop();
    shared.close();
  }
}
