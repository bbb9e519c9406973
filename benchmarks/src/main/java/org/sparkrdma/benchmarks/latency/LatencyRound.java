// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.latency;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.sparkrdma.benchmarks.transfer.SampleCheck;
import org.sparkrdma.benchmarks.transfer.TransferEngine;

/**
 * Both clients in one round.
 *
 * @param objection the reason why the round is invalid, in one sentence
 */
record LatencyRound(Latencies rdma, Latencies netty, Optional<String> objection) {
  /**
   * Joins the shares of both executors.
   *
   * @param bytes fetched by each client
   */
  static LatencyRound of(long bytes, List<LatencyShare> shares) {
    return new LatencyRound(
        latencies(shares, TransferEngine.RDMA),
        latencies(shares, TransferEngine.NETTY),
        Stream.of(TransferEngine.values())
            .flatMap(engine -> objection(engine, bytes, shares).stream())
            .findFirst());
  }

  double p50Ratio() {
    return rdma.p50Us() / netty.p50Us();
  }

  double p99Ratio() {
    return rdma.p99Us() / netty.p99Us();
  }

  private static Latencies latencies(List<LatencyShare> shares, TransferEngine engine) {
    return Latencies.of(
        shares.stream()
            .filter(share -> share.engine() == engine)
            .flatMap(share -> share.ns().stream())
            .toList());
  }

  private static Optional<String> objection(
      TransferEngine engine, long bytes, List<LatencyShare> shares) {
    List<LatencyShare> ends = shares.stream().filter(share -> share.engine() == engine).toList();
    Map<String, Long> counters = new TreeMap<>();
    ends.forEach(
        end -> end.counters().forEach((label, grown) -> counters.merge(label, grown, Long::sum)));
    boolean intact = ends.stream().map(LatencyShare::sum).distinct().count() == 1;
    return SampleCheck.objection(engine, bytes, intact, counters);
  }
}
