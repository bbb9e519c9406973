// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/** Retains fetched blocks, and counts those that are not answered yet. Safe for any thread. */
final class HoldingHandler implements FetchHandler {
  final AtomicReferenceArray<Object> results;
  final CountDownLatch left;

  HoldingHandler(int blocks) {
    results = new AtomicReferenceArray<>(blocks);
    left = new CountDownLatch(blocks);
  }

  @Override
  public void onFetched(int index, ManagedBuffer buffer) {
    answer(index, buffer.retain());
  }

  @Override
  public void onFailed(int index, FallbackReason reason, String detail) {
    answer(index, reason);
  }

  private void answer(int index, Object result) {
    assertThat(results.compareAndSet(index, null, result)).isTrue();
    left.countDown();
  }
}
