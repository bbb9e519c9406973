// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.TransportType;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/** Differences between InfiniBand (with RoCE) and iWARP. */
enum TransportRules {
  INFINIBAND(TransportType.INFINIBAND),
  IWARP(TransportType.IWARP);

  /** Reasons in a REJ message, see the InfiniBand specification, 12.6.7.2. */
  private static final int IB_NO_LISTENER = 8;

  private static final int IB_STALE_CONNECTION = 10;
  private static final int IB_REFUSED_BY_CONSUMER = 28;

  private final TransportType transport;

  TransportRules(TransportType transport) {
    this.transport = transport;
  }

  static boolean isKnown(int transportType) {
    return transportType == VerbsLibrary.TRANSPORT_IB
        || transportType == VerbsLibrary.TRANSPORT_IWARP;
  }

  static TransportRules of(int transportType) {
    return transportType == VerbsLibrary.TRANSPORT_IWARP ? IWARP : INFINIBAND;
  }

  TransportType transport() {
    return transport;
  }

  /**
   * Capabilities of a device with this transport; a driver may lack some.
   *
   * @param environment of this process, in which libraries of cards find that they need no locks
   */
  Set<Capability> capabilities(Map<String, String> environment) {
    var all =
        EnumSet.of(
            Capability.REJECT,
            Capability.ACCEPT_PRIVATE_DATA,
            Capability.READ_DEPTH,
            Capability.IPV6,
            Capability.FILE_REGIONS,
            Capability.TRAFFIC_CLASS);
    // "By default all verbs objects are safe for multi-threaded access", ibv_alloc_td(3).
    if (Collections.disjoint(environment.keySet(), Capability.SINGLE_THREADED)) {
      all.add(Capability.POST_BESIDE_POLL);
    }
    if (this == INFINIBAND) {
      // Chelsio's iWARP driver refuses to change the access of a connected queue pair with EIO
      // (cxgb4's c4iw_modify_qp takes attributes in state IDLE only), and siw ignores it.
      all.add(Capability.QUEUE_PAIR_ACCESS);
      all.add(Capability.WITHHOLDS_ACCESS);
      all.add(Capability.REQUEST_HAS_QUEUE_PAIR);
      all.add(Capability.SEND_WITH_IMMEDIATE);
      all.add(Capability.WRITE_WITH_IMMEDIATE);
      all.add(Capability.ACK_TIMEOUT);
    }
    return all;
  }

  /**
   * Whether rdma_connect may wait for seconds, as the kernel asks the port mapper iwpmd of iWARP (
   * iw_cm_map in its iwcm.c), and calls that end a connection wait for the outcome of its request
   * or reply, for a minute where the peer does not answer (IWCM_F_CONNECT_WAIT there, and the
   * reference to the queue pair that drivers wait for when they destroy it).
   */
  boolean callsMayWait() {
    return this == IWARP;
  }

  /**
   * Whether the peer's host rejected a request because of a stale connection (cm_match_req in
   * drivers/infiniband/core/cm.c), from the event's status.
   */
  boolean isStale(int status) {
    return this == INFINIBAND && status == IB_STALE_CONNECTION;
  }

  /** The reason for a rejection, from the event's status. */
  String rejection(int status) {
    if (status < 0) {
      return "refused: " + Libc.strerror(-status);
    }
    return switch (status) {
      case IB_NO_LISTENER -> "refused: no listener on this port";
      case IB_STALE_CONNECTION -> "refused: stale connection at the peer's host";
      case IB_REFUSED_BY_CONSUMER -> "refused by the peer";
      default -> "refused: reason=" + status;
    };
  }

  /** READ may have fewer elements than other work; 0 means unknown. */
  static int maxReadSge(int maxSge, int maxSgeRead) {
    return maxSgeRead > 0 ? Math.min(maxSge, maxSgeRead) : maxSge;
  }
}
