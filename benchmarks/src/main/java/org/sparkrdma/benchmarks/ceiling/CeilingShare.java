// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.ceiling;

import java.io.Serializable;
import java.util.Map;
import org.sparkrdma.benchmarks.transfer.TransferEngine;

/**
 * Measurements of one executor for one client in a round.
 *
 * @param blocks blocks fetched; 0 from the server
 * @param ns wall time of the fetch; 0 from the server
 * @param rdmaBytes bytes that came by READ; 0 from the server
 */
record CeilingShare(
    TransferEngine engine, boolean server, long blocks, long ns, long rdmaBytes, SideCost cost)
    implements Serializable {
  static CeilingShare served(TransferEngine engine, SideCost cost) {
    return new CeilingShare(engine, true, 0, 0, 0, cost);
  }

  /** CPU time that the client caused. */
  long cpuNs() {
    return engine == TransferEngine.NETTY ? cost.cpuNsWithoutPlugin() : cost.cpuNs();
  }

  /**
   * @param counters growth of the plug-in's counters
   */
  static CeilingShare fetched(
      TransferEngine engine, long blocks, long ns, SideCost cost, Map<String, Long> counters) {
    return new CeilingShare(
        engine, false, blocks, ns, counters.getOrDefault("rdma.bytes.read", 0L), cost);
  }
}
