// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.device;

import java.util.Set;

/** Optional features of an engine or its device. Do not use a feature that is absent. */
public enum Capability {
  /** SEND with immediate data; iWARP has none. */
  SEND_WITH_IMMEDIATE,
  /** RDMA WRITE with immediate data; iWARP has none. */
  WRITE_WITH_IMMEDIATE,
  /** A listener can reject a connection request with private data. */
  REJECT,
  /** The acknowledge time-out of a connection can be set. */
  ACK_TIMEOUT,
  /** Listeners and connections can be given a traffic class. */
  TRAFFIC_CLASS,
  /**
   * The number of outstanding READs of a connection can be set. Without this feature it is what the
   * engine or the device decides.
   */
  READ_DEPTH,
  /** Devices can be reached by IPv6 addresses as well as by IPv4 addresses. */
  IPV6,
  /** Private data travels with accept as well as with connect. */
  ACCEPT_PRIVATE_DATA,
  /**
   * The queue pair limits the access of peers, and the limit can change while it is connected.
   * Without this feature, peers have the access of the regions in its protection domain.
   */
  QUEUE_PAIR_ACCESS,
  /**
   * It was seen with this driver that a peer whose access is limited in that way is refused. A
   * driver may accept the limit, report it and not enforce it.
   */
  WITHHOLDS_ACCESS,
  /**
   * A connection request contains the number of the initiator's queue pair. On iWARP it does not:
   * there the request travels in the TCP connection that carries the queue pair.
   */
  REQUEST_HAS_QUEUE_PAIR,
  /** Ranges of files can be registered. */
  FILE_REGIONS,
  /** Regions whose pages are not pinned, and READs out of them; see ibv_query_device_ex(3). */
  ON_DEMAND_PAGING,
  /**
   * Any thread may post sends, READs and WRITEs to a queue pair while another polls its completion
   * queue, breaks it or closes it. Receives are posted by the thread that polls.
   */
  POST_BESIDE_POLL;

  /**
   * Variables of the environment with which a library of a card leaves out its locks: while one is
   * set, its devices lack {@link #POST_BESIDE_POLL}.
   */
  public static final Set<String> SINGLE_THREADED =
      Set.of(
          "MLX4_SINGLE_THREADED", "MLX5_SINGLE_THREADED", "BNXT_SINGLE_THREADED", "IONIC_LOCKFREE");
}
