// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/** A block that takes receive memory without a connection. */
public record TakenMemory(long blockBytes, FetchingTask reader) implements ReceiveMemory.Waiter {
  /** Receive memory of a pool. */
  public static ReceiveMemory of(RegisteredPool pool, ShuffleCounters counters) {
    return new ReceiveMemory(pool, counters, WaitBudgets.ofReader(1), Long.MAX_VALUE);
  }

  /** Memory for a block whose reader is not known. */
  public static FetchedBlock take(ReceiveMemory from, long lengthBytes) {
    return from.tryTake(new TakenMemory(lengthBytes, new FetchingTask(null)));
  }

  @Override
  public boolean mayTake() {
    return true;
  }

  @Override
  public void onGranted() {}

  @Override
  public void onMemory(FetchedBlock memory) {
    throw new IllegalStateException("it does not wait");
  }
}
