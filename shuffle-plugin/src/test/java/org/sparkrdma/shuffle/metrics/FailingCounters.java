// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import java.util.concurrent.atomic.LongAdder;

/** Counters that call a step of a test, which may throw, whenever they count. */
public final class FailingCounters {
  private FailingCounters() {}

  /**
   * Counters at zero.
   *
   * @param step run with each count, and with each reading of the clock
   */
  public static ShuffleCounters with(Runnable step) {
    return new ShuffleCounters(
        () -> new Adder(step),
        () -> {
          step.run();
          return System.nanoTime();
        });
  }

  /** Throws like one that cannot allocate its cells. */
  private static final class Adder extends LongAdder {
    private static final long serialVersionUID = 1L;

    private final transient Runnable step;

    Adder(Runnable step) {
      this.step = step;
    }

    @Override
    public void add(long amount) {
      step.run();
      super.add(amount);
    }

    @Override
    public void increment() {
      add(1);
    }
  }
}
