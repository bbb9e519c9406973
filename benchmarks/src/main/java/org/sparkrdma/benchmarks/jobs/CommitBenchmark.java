// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.util.List;
import org.sparkrdma.launch.LaunchException;

/** Builds commits and runs the same benchmark on each. Confined to one thread. */
interface CommitBenchmark {
  /** Builds the commit. Called once for each, before any run. */
  void build(Commit commit) throws LaunchException, IOException, InterruptedException;

  /** Runs the benchmark once and returns its ratios. */
  List<MeasuredRatio> run(Commit commit) throws LaunchException, IOException, InterruptedException;
}
