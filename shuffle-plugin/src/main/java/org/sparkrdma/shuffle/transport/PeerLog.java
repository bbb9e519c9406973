// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.LogLimit;

/**
 * Log lines about connections that fail, limited for each peer: one of each kind in ten seconds,
 * with the number of those omitted before. Owned by the agent.
 */
final class PeerLog {
  private static final Logger LOG = LoggerFactory.getLogger(PeerLog.class);

  private final LogLimit attempts;
  private final LogLimit requests;
  private final LogLimit failures;
  private final LogLimit quarantines;

  /**
   * @param nanoClock as {@link System#nanoTime}
   */
  PeerLog(LongSupplier nanoClock) {
    attempts = new LogLimit(nanoClock);
    requests = new LogLimit(nanoClock);
    failures = new LogLimit(nanoClock);
    quarantines = new LogLimit(nanoClock);
  }

  /**
   * A connection was not established.
   *
   * @param addresses of both ends; empty when the peer initiated it
   */
  void cannotConnect(Peer peer, String addresses, FallbackReason reason, String detail) {
    attempts
        .next(peer.incarnation())
        .ifPresent(
            omitted ->
                LOG.info(
                    "Cannot connect to peer {}{}: reason={} detail={}{}",
                    peer,
                    addresses.isEmpty() ? "" : " " + addresses,
                    reason.label(),
                    detail,
                    omitted));
  }

  /** The request of a peer failed at this end. */
  void cannotAccept(Peer peer, String detail) {
    requests
        .next(peer.incarnation())
        .ifPresent(
            omitted ->
                LOG.info(
                    "Cannot accept a connection of peer {}: detail={}{}", peer, detail, omitted));
  }

  /** A connection failed after its set-up. */
  void connectionFailed(Peer peer, String detail) {
    failures
        .next(peer.incarnation())
        .ifPresent(
            omitted -> LOG.info("Connection to peer {} failed: {}{}", peer, detail, omitted));
  }

  /**
   * A peer gets no connections for some time.
   *
   * @param reason label of the reason
   */
  void quarantined(Peer peer, long milliseconds, String reason, String detail) {
    quarantines
        .next(peer.incarnation())
        .ifPresent(
            omitted ->
                LOG.info(
                    "Quarantining peer {} for {} ms: reason={} detail={}; its blocks use TCP{}",
                    peer,
                    milliseconds,
                    reason,
                    detail,
                    omitted));
  }
}
