// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.Map;
import java.util.concurrent.Callable;

/** A job that has ended; {@link #call} computes its answer, outside the measured time. */
@FunctionalInterface
public interface PendingAnswer extends Callable<ComputedAnswer> {
  /** Wall time of each query of the job, by its name in the job's order; else empty. */
  default Map<String, Double> querySeconds() {
    return Map.of();
  }
}
