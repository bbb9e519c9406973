// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * What is run.
 *
 * @param shapes of the job, one after the other
 * @param modes shuffles to compare; the first is what the others are compared with
 * @param rounds measured runs under each shuffle
 * @param warmUps runs before each measured one, in the same executors
 * @param data directory for input and output, as Hadoop names it; empty where the job needs none
 * @param command as the user gave it, for the report
 */
public record BenchmarkPlan(
    ShuffleJob job,
    List<String> shapes,
    List<ShuffleMode> modes,
    int rounds,
    int warmUps,
    String data,
    String command) {

  /**
   * The shuffles in the order of one round. Each round begins with another one, so that none always
   * has the machine as the same other one left it.
   *
   * @param round from 1
   */
  List<ShuffleMode> order(int round) {
    List<ShuffleMode> order = new ArrayList<>(modes);
    Collections.rotate(order, 1 - round);
    return order;
  }

  /** The same with another directory. */
  BenchmarkPlan withData(String newData) {
    return new BenchmarkPlan(job, shapes, modes, rounds, warmUps, newData, command);
  }

  /** Runs of the job in all, warm-ups included. */
  int runs() {
    return shapes.size() * rounds * modes.size() * (warmUps + 1);
  }
}
