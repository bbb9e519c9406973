// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.util.Map;

/**
 * Native memory of one executor at one of two moments.
 *
 * @param seconds since the soak began
 * @param jobs number of jobs that were complete
 * @param pages resident memory, from the kernel
 * @param committedMib committed memory by category, from the JVM, without the heap; empty when the
 *     JVM gave no account
 */
record MemorySnapshot(
    Moment moment,
    double seconds,
    int jobs,
    String executor,
    ResidentPages pages,
    Map<String, Double> committedMib) {

  /** The moments to compare, in the order of time. */
  enum Moment {
    WARM_UP_END {
      @Override
      double dueSeconds(double length) {
        return LongLivedExecutor.WARM_UP_PART * length;
      }
    },
    /** Shortly before the end: after it, the executors no longer exist. */
    END {
      @Override
      double dueSeconds(double length) {
        return length - SECONDS_BEFORE_END;
      }
    };

    private static final double SECONDS_BEFORE_END = 5;

    /**
     * Returns the time of this moment, in seconds since the soak began.
     *
     * @param length of the soak in seconds
     */
    abstract double dueSeconds(double length);
  }
}
