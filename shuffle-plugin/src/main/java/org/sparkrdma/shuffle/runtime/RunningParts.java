// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;

/**
 * The resources of one executor, closed in the order that verbs require.
 *
 * @param description of device, engine, addresses and limit of pinned memory, for the log
 */
record RunningParts(
    Transport transport, PinnedBudget budget, Device device, VerbsEngine engine, String description)
    implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RunningParts.class);

  /**
   * The transport, as used by the runtime.
   *
   * @param fetches fetches blocks of peers
   * @param endpoint of this executor, for peers
   * @param unregisterShuffle deregisters the files of a shuffle soon; does not block
   * @param close answers open blocks with STOPPED, ends all connections, releases everything
   */
  record Transport(
      BlockTransport fetches, Endpoint endpoint, IntConsumer unregisterShuffle, Runnable close) {}

  /**
   * When the transport does not close, a thread may still use the device, so the device stays open.
   */
  @Override
  public void close() {
    closeAll();
  }

  /**
   * As {@link #close}; whether nothing uses the device any more. Tasks may still read blocks that
   * they have received: their memory stays readable, but is not registered any more.
   */
  boolean closeAll() {
    if (!tryClose("transport", transport.close())) {
      return false;
    }
    LOG.info("RDMA is closed; tasks still hold {} bytes", budget.pinnedBytes());
    return tryClose("device", device::close) && tryClose("engine", engine::close);
  }

  private static boolean tryClose(String name, Runnable close) {
    try {
      close.run();
      return true;
    } catch (Throwable e) {
      // An Error too: the runtime's thread goes on.
      LOG.warn("Cannot close RDMA part={}", name, e);
      return false;
    }
  }
}
