// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.LogLimit;

/**
 * Logs why blocks use TCP, limited for each peer. A reason is logged at INFO the first time for an
 * executor, at TRACE after that; an error or corrupt data once in ten seconds, with the number of
 * those omitted before. Safe for any thread.
 */
public final class FallbackLog {
  private static final Logger LOG = LoggerFactory.getLogger(FallbackLog.class);

  private static final int MAX_REMEMBERED = 1_000;

  private final Set<Report> reported = ConcurrentHashMap.newKeySet();

  /** Limits the lines about reasons that are not remembered. */
  private final LogLimit others;

  private final LogLimit corrupt;

  private record Report(String executorId, FallbackReason reason) {}

  /** Nothing is logged yet. */
  public FallbackLog() {
    this(System::nanoTime);
  }

  /**
   * @param nanoClock as {@link System#nanoTime}
   */
  FallbackLog(LongSupplier nanoClock) {
    others = new LogLimit(nanoClock);
    corrupt = new LogLimit(nanoClock);
  }

  /** Blocks use TCP. */
  void report(BlockManagerAddress peer, FallbackReason reason, int blocks, String detail) {
    Optional<String> omitted = omittedBefore(new Report(peer.executorId(), reason));
    if (omitted.isPresent()) {
      LOG.info(
          "Blocks of peer executor={} are fetched over TCP: reason={} blocks={} detail={}; further"
              + " ones with this reason are only counted{}",
          peer.executorId(),
          reason.label(),
          blocks,
          detail,
          omitted.get());
    } else {
      LOG.trace(
          "Blocks of peer executor={} are fetched over TCP: reason={} blocks={} detail={}",
          peer.executorId(),
          reason.label(),
          blocks,
          detail);
    }
  }

  /** The end of a line at INFO; empty when there is to be none. */
  private Optional<String> omittedBefore(Report report) {
    if (reported.contains(report)) {
      return Optional.empty();
    }
    if (reported.size() >= MAX_REMEMBERED) {
      // Remembers no more, so that many peers at once do not make earlier ones be logged again.
      return others.next(report.reason());
    }
    return reported.add(report) ? Optional.of("") : Optional.empty();
  }

  /** A READ and TCP brought different bytes. */
  void corrupt(BlockManagerAddress peer, String blockId, String sums) {
    corrupt
        .next(peer.executorId())
        .ifPresent(
            omitted ->
                LOG.warn(
                    "Corrupt RDMA data from peer executor={}: block={} {}; the bytes that TCP"
                        + " delivered are used{}",
                    peer.executorId(),
                    blockId,
                    sums,
                    omitted));
  }
}
