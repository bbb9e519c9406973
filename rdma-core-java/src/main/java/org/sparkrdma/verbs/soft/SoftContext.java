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
 * @param thread the device thread; its Javadoc names the methods that are safe for any thread
 * @param faults safe for any thread
 * @param network confined to the device thread
 * @param oneSided confined to the device thread
 * @param endpoints confined to the device thread
 */
record SoftContext(
    SoftSettings settings,
    SharedState shared,
    DeviceThread thread,
    FaultPlan faults,
    Network network,
    OneSided oneSided,
    Endpoints endpoints)
    implements AutoCloseable {

  /** Creates the shared state and starts the device thread. */
  static SoftContext open(SoftSettings settings, HostIdentity host, boolean copiesReads)
      throws IOException {
    SharedState shared = SharedState.create(settings.directory(), host);
    try {
      var thread = new DeviceThread("soft-rdma-" + SoftDeviceFacts.NAME);
      FaultPlan faults = FaultPlan.parse(settings.faults());
      var peers = new SoftPeers(shared.directory(), shared.self(), settings.maxOpenFiles());
      var context =
          new SoftContext(
              settings,
              shared,
              thread,
              faults,
              new Network(settings.latencyNs(), settings.bytesPerSecond(), faults),
              new OneSided(copiesReads),
              new Endpoints(thread, peers, settings.peerCheckNs()));
      thread.start();
      return context;
    } catch (Throwable e) {
      // An Error too, such as a refused thread: the device may be opened again.
      shared.close();
      throw e;
    }
  }

  @Override
  public void close() {
    thread.call(endpoints::closeAll);
    thread.stop();
    shared.close();
  }
}
