// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.LogLimit;

/** Log lines about errors in the delivery of blocks, limited for each peer. Safe for any thread. */
final class DeliveryLog {
  private static final Logger LOG = LoggerFactory.getLogger(DeliveryLog.class);

  private final LogLimit failures = new LogLimit();
  private final LogLimit handlers = new LogLimit();

  void notDelivered(BlockProgress block, Throwable e) {
    failures
        .next(block.fetch().peer().incarnation())
        .ifPresent(
            omitted ->
                LOG.warn(
                    "Cannot deliver block={} after its READ; it uses TCP{}",
                    block.range(),
                    omitted,
                    e));
  }

  void handlerFailed(BlockProgress block, Throwable e) {
    handlers
        .next(block.fetch().peer().incarnation())
        .ifPresent(
            omitted ->
                LOG.error(
                    "Block handler threw an exception: block={}{}", block.range(), omitted, e));
  }
}
