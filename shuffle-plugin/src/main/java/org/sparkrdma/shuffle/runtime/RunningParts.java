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

/** Everything of one executor that must be closed, in the order that verbs require. */
record RunningParts(Transport transport, PinnedBudget budget, Device device, VerbsEngine engine)
    implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RunningParts.class);

  /**
   * The transport as the runtime uses it.
   *
   * @param fetches fetches blocks of peers
   * @param endpoint where peers find this executor
   * @param unregisterShuffle releases soon what is registered of a shuffle's files; does not block
   * @param close answers open blocks with STOPPED, ends all connections, releases everything
   */
  record Transport(
      BlockTransport fetches, Endpoint endpoint, IntConsumer unregisterShuffle, Runnable close) {}

  /** When the transport does not close, a thread may still use the device: then that stays open. */
  @Override
  public void close() {
    if (tryClose("transport", transport.close())) {
      tryClose("budget", budget::close);
      tryClose("device", device::close);
      tryClose("engine", engine::close);
    }
  }

  private static boolean tryClose(String name, Runnable close) {
    try {
      close.run();
      return true;
    } catch (RuntimeException e) {
      LOG.warn("Cannot close RDMA part={}", name, e);
      return false;
    }
  }
}
