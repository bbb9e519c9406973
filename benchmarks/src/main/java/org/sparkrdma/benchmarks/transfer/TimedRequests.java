// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.LongSupplier;

/** Repeats requests until a time is over, but gives at least one. Confined to one thread. */
final class TimedRequests implements Iterator<String[]> {
  private final List<String[]> requests;
  private final LongSupplier nowNs;
  private final long endNs;
  private int next;
  private boolean began;

  TimedRequests(List<String[]> requests, long durationNs, LongSupplier nowNs) {
    this.requests = requests;
    this.nowNs = nowNs;
    endNs = nowNs.getAsLong() + durationNs;
  }

  @Override
  public boolean hasNext() {
    return !began || nowNs.getAsLong() - endNs < 0;
  }

  @Override
  public String[] next() {
    if (!hasNext()) {
      throw new NoSuchElementException("the time is over");
    }
    began = true;
    String[] request = requests.get(next);
    next = (next + 1) % requests.size();
    return request;
  }
}
