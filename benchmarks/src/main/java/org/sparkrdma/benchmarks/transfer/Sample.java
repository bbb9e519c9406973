// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.Map;
import java.util.TreeMap;

/**
 * Measurements of one engine in a round.
 *
 * @param ns wall time from the first request to the last byte
 * @param intact whether the sums of the bytes read and written are equal
 * @param counters growth of the plug-in's counters in both executors, without zeros
 */
record Sample(
    TransferEngine engine,
    long bytes,
    long ns,
    CpuTime serverCpu,
    CpuTime clientCpu,
    boolean intact,
    Map<String, Long> counters) {

  /** Joins the measurements of both executors. */
  static Sample of(EngineShare.Served served, EngineShare.Fetched fetched) {
    Map<String, Long> counters = new TreeMap<>(fetched.counters());
    served.counters().forEach((label, grown) -> counters.merge(label, grown, Long::sum));
    return new Sample(
        fetched.engine(),
        fetched.bytes(),
        fetched.ns(),
        served.cpu(),
        fetched.cpu(),
        fetched.sum() == served.sum(),
        counters);
  }

  /** The rate in GB/s, of 10⁹ bytes. */
  double gbPerSecond() {
    return (double) bytes / ns;
  }

  double serverCpuSecondsPerGb() {
    return (double) serverCpu.ns() / bytes;
  }

  double serverCompilerSecondsPerGb() {
    return (double) serverCpu.compilerNs() / bytes;
  }

  double clientCompilerSecondsPerGb() {
    return (double) clientCpu.compilerNs() / bytes;
  }

  double clientCpuSecondsPerGb() {
    return (double) clientCpu.ns() / bytes;
  }
}
