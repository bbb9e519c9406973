// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import org.apache.spark.network.buffer.ManagedBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/** The handler of a fetch that tests a peer: no task waits for its block. */
final class NoAnswers implements FetchHandler {
  static final NoAnswers ONLY = new NoAnswers();

  private static final Logger LOG = LoggerFactory.getLogger(NoAnswers.class);

  private NoAnswers() {}

  @Override
  public void onFetched(int index, ManagedBuffer buffer) {
    // The transport releases the buffer.
  }

  @Override
  public void onFailed(int index, FallbackReason reason, String detail) {
    // The block itself uses TCP already, and counts there.
    LOG.debug("The test of a peer failed: reason={} detail={}", reason.label(), detail);
  }

  @Override
  public void onSuspect(int index, SuspectBlock suspect) {
    // No data is compared.
  }
}
