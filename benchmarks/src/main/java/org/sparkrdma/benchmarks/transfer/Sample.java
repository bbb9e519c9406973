// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.Map;
import java.util.TreeMap;

/**
 * One engine's part of a round.
 *
 * @param intact whether the sum of what was read is the sum of what was written
 * @param counters the plug-in's counters of both executors, what they grew by; zeros left out
 */
record Sample(
    TransferEngine engine,
    long bytes,
    long ns,
    long serverCpuNs,
    long clientCpuNs,
    boolean intact,
    Map<String, Long> counters) {

  /** Of both ends. */
  static Sample of(EngineShare.Served served, EngineShare.Fetched fetched) {
    Map<String, Long> counters = new TreeMap<>(fetched.counters());
    served.counters().forEach((label, grown) -> counters.merge(label, grown, Long::sum));
    return new Sample(
        fetched.engine(),
        fetched.bytes(),
        fetched.ns(),
        served.cpuNs(),
        fetched.cpuNs(),
        fetched.sum() == served.sum(),
        counters);
  }

  /** In GB/s, of 10⁹ bytes. */
  double gbPerSecond() {
    return (double) bytes / ns;
  }

  double serverCpuSecondsPerGb() {
    return (double) serverCpuNs / bytes;
  }

  double clientCpuSecondsPerGb() {
    return (double) clientCpuNs / bytes;
  }
}
