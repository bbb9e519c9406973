// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.LogLimit;

/**
 * Log lines about errors in the delivery of blocks, limited for each peer. Never throws, because
 * its callers have blocks to answer. Safe for any thread.
 */
public final class DeliveryLog {
  private static final Logger LOG = LoggerFactory.getLogger(DeliveryLog.class);

  private final LogLimit failures;
  private final LogLimit releases;
  private final LogLimit handlers;
  private final LogLimit agents;

  public DeliveryLog() {
    this(System::nanoTime);
  }

  /**
   * @param nanoClock as {@link System#nanoTime}
   */
  DeliveryLog(LongSupplier nanoClock) {
    failures = new LogLimit(nanoClock);
    releases = new LogLimit(nanoClock);
    handlers = new LogLimit(nanoClock);
    agents = new LogLimit(nanoClock);
  }

  /** The transport agent cannot be given a request. */
  public void notHandedToAgent(BlockFetch fetch, Throwable e) {
    try {
      agents
          .next(fetch.peer().incarnation())
          .ifPresent(
              omitted ->
                  LOG.warn(
                      "Cannot hand a fetch to the transport agent; its blocks use TCP{}",
                      omitted,
                      e));
    } catch (Throwable noMemory) {
      // Only the line is lost, also below.
    }
  }

  void notDelivered(BlockProgress block, Throwable e) {
    try {
      failures
          .next(block.fetch().peer().incarnation())
          .ifPresent(
              omitted ->
                  LOG.warn(
                      "Cannot deliver block={} after its READ; it uses TCP{}",
                      block.range(),
                      omitted,
                      e));
    } catch (Throwable noMemory) {
      // See above.
    }
  }

  /** Receive memory of several blocks is not released in one step. */
  void notTogether(BlockProgress first, Throwable e) {
    try {
      LOG.debug("Cannot end the reservations of blocks together: first={}", first.range(), e);
    } catch (Throwable noMemory) {
      // See above.
    }
  }

  /** Memory of a block is not released, or its file is not deleted. */
  void notReleased(BlockProgress block, Throwable e) {
    try {
      releases
          .next(block.fetch().peer().incarnation())
          .ifPresent(
              omitted ->
                  LOG.error(
                      "Cannot release the memory or file of block={}{}",
                      block.range(),
                      omitted,
                      e));
    } catch (Throwable noMemory) {
      // See above.
    }
  }

  void handlerFailed(BlockProgress block, Throwable e) {
    try {
      handlers
          .next(block.fetch().peer().incarnation())
          .ifPresent(
              omitted ->
                  LOG.error(
                      "Block handler threw an exception: block={}{}", block.range(), omitted, e));
    } catch (Throwable noMemory) {
      // See above.
    }
  }
}
