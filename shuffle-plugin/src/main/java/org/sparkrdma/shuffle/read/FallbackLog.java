// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * Logs why blocks use TCP: at INFO the first time for an executor and a reason, at DEBUG after
 * that. Safe for any thread.
 */
final class FallbackLog {
  private static final Logger LOG = LoggerFactory.getLogger(FallbackLog.class);

  private static final int MAX_REMEMBERED = 1_000;

  private final Set<Report> reported = ConcurrentHashMap.newKeySet();

  private record Report(String executorId, FallbackReason reason) {}

  void report(PeerAddress peer, FallbackReason reason, int blocks, String detail) {
    if (reported.size() >= MAX_REMEMBERED) {
      // Bounds the memory; a reason may be logged at INFO again.
      reported.clear();
    }
    if (reported.add(new Report(peer.executorId(), reason))) {
      LOG.info(
          "Blocks of peer executor={} use TCP: reason={} blocks={} detail={}; further ones with this"
              + " reason are only counted",
          peer.executorId(),
          reason.label(),
          blocks,
          detail);
    } else {
      LOG.debug(
          "Blocks of peer executor={} use TCP: reason={} blocks={} detail={}",
          peer.executorId(),
          reason.label(),
          blocks,
          detail);
    }
  }
}
