// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.Listener;

/** Opens the listeners of an executor, one on each address. The connection manager closes them. */
final class Listeners {
  private static final Logger LOG = LoggerFactory.getLogger(Listeners.class);

  /**
   * Requests that may wait for the agent, the kernel's own limit (net.rdma_ucm.max_backlog): all
   * peers may connect while it is busy. The kernel drops more requests on InfiniBand, which repeats
   * them after seconds, and rejects them on iWARP.
   */
  private static final int BACKLOG = 1_024;

  private Listeners() {}

  /**
   * Listens on every address. A later address that cannot be used is left out: peers then use
   * another one.
   *
   * @param addresses the preferred one first
   * @param port for each address; 0 for free ones
   * @return addresses of the listeners, at most {@link Endpoint#MAX_ADDRESSES}
   * @throws VerbsException when the first address cannot be used
   */
  static List<ListenerAddress> open(
      ConnectionManager manager, List<NetworkAddress> addresses, int port) throws VerbsException {
    List<ListenerAddress> opened = new ArrayList<>();
    for (NetworkAddress network : addresses) {
      if (opened.size() == Endpoint.MAX_ADDRESSES) {
        LOG.info("Not listening on {}: the limit is {} addresses", network, opened.size());
        continue;
      }
      try {
        Listener listener = manager.listen(network.socket(port), BACKLOG);
        opened.add(new ListenerAddress(network, listener.address().getPort()));
      } catch (VerbsException e) {
        if (opened.isEmpty()) {
          throw e;
        }
        LOG.warn(
            "Cannot listen on {}: {}; peers use the addresses {}", network, e.getMessage(), opened);
      }
    }
    return opened;
  }
}
