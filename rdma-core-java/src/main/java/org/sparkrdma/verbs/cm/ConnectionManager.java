// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.cm;

import java.net.InetSocketAddress;
import java.time.Duration;
import org.sparkrdma.verbs.VerbsException;

/**
 * Creates connections, see rdma_cm(7).
 *
 * <pre>
 *  initiator: resolve ─► RESOLVED ─► createQueuePair, post receives ─► connect ─► ESTABLISHED
 *                └─► RESOLVE_FAILED                                      └─► REJECTED, UNREACHABLE, CONNECT_ERROR
 *  acceptor: listen ─► CONNECT_REQUEST ─► createQueuePair, post receives ─► accept ─► ESTABLISHED
 *                                      └─► reject
 *  both:     ESTABLISHED ─► DISCONNECTED, exactly once
 * </pre>
 *
 * <p>Owned by the thread that polls it. Closed by its creator; closing it closes its listeners and
 * connections. A second close does nothing.
 */
public interface ConnectionManager extends AutoCloseable {
  /**
   * Sets the traffic class of listeners and connections that are made afterwards: the TOS byte of
   * IPv4, the traffic class of IPv6 and InfiniBand, see RDMA_OPTION_ID_TOS in rdma_set_option(3).
   * Without it the system's default applies. Has no effect without {@link
   * org.sparkrdma.verbs.device.Capability#TRAFFIC_CLASS}.
   *
   * @param trafficClass 0 to 255
   * @throws IllegalArgumentException when it is not 0 to 255
   */
  void setTrafficClass(int trafficClass);

  /**
   * Listens for connection requests, see rdma_listen(3).
   *
   * @param address port 0 chooses a free port; see {@link Listener#address()}
   * @param backlog requests that may wait to be polled, at least 1
   * @return a listener that the caller closes
   * @throws IllegalArgumentException for a backlog of less than 1, or an unresolved address
   * @throws IllegalStateException after close
   * @throws VerbsException when the address cannot be used
   */
  Listener listen(InetSocketAddress address, int backlog) throws VerbsException;

  /**
   * Begins a connection: resolves address and route, see rdma_resolve_addr(3). Ends in {@link
   * ConnectionEvent.Type#RESOLVED} or {@link ConnectionEvent.Type#RESOLVE_FAILED}.
   *
   * @param remote a resolved address
   * @param local source address, resolved; null lets the system choose
   * @param timeout for the address, and then for the route; a failure comes after three times that
   *     at the latest
   * @return connection that the caller closes, also after a failure
   * @throws IllegalArgumentException when {@code remote} is unresolved
   * @throws IllegalStateException after close
   * @throws VerbsException when no connection can be created; an address that is refused comes as
   *     RESOLVE_FAILED
   */
  Connection resolve(InetSocketAddress remote, InetSocketAddress local, Duration timeout)
      throws VerbsException;

  /**
   * Polls the oldest event. Never blocks. See rdma_get_cm_event(3).
   *
   * @return the event, or null when there is none, or when the caller should do other work before
   *     more are taken from the kernel; the completion channel then wakes it at once
   */
  ConnectionEvent pollEvent();

  @Override
  void close();
}
