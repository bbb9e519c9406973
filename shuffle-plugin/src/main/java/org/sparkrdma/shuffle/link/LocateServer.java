// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.link;

import org.sparkrdma.shuffle.serve.LocateCall;

/** Answers the LOCATEs of all peers. Confined to the agent. */
public interface LocateServer {
  /** Answers a LOCATE, now or in a later {@link #doWork}. */
  void locate(LocateCall call, long nowNs);

  /** Releases a lease of a peer; one that the peer does not hold is counted and ignored. */
  void release(long peer, long leaseId);

  /** The queue pair of a peer is destroyed: its leases end, its LOCATEs need no answer. */
  void onPeerGone(long peer);

  /** Does what is due; returns the amount of work done. */
  int doWork(long nowNs);

  /** Time of the next deadline; {@link Long#MAX_VALUE} after {@code nowNs} without one. */
  long nextDeadlineNs(long nowNs);
}
