// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.transport.StartedTransport;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;

/**
 * Everything that one start of RDMA opened: engine, device, account of pinned bytes and transport,
 * closed in the order that verbs require; also the executor's identity. Opened by the runtime's
 * thread; the runtime closes it.
 *
 * @param description of device, engine, addresses and limit of pinned memory, for the log
 */
record OpenRdma(
    StartedTransport transport,
    PinnedBudget budget,
    Device device,
    VerbsEngine engine,
    String description) {
  private static final Logger LOG = LoggerFactory.getLogger(OpenRdma.class);

  /**
   * Closes all parts, or goes on with a close that has failed. When the transport does not close, a
   * thread may still use the device, so the device stays open. Tasks may still read blocks that
   * they have received: their memory stays readable, but is no longer registered.
   *
   * @return whether the device is no longer used
   */
  boolean close() {
    if (!tryClose("transport", transport)) {
      return false;
    }
    LOG.info("RDMA is closed; tasks still hold {} bytes", budget.pinnedBytes());
    return tryClose("device", device) && tryClose("engine", engine);
  }

  private static boolean tryClose(String name, AutoCloseable part) {
    try {
      part.close();
      return true;
    } catch (Exception e) {
      LOG.warn("Cannot close RDMA part={}; RDMA stays off until it is closed", name, e);
      return false;
    }
  }
}
