// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.latency;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.sparkrdma.benchmarks.transfer.Layout;
import org.sparkrdma.benchmarks.transfer.SampleCheck;
import org.sparkrdma.benchmarks.transfer.TransferEngine;

/**
 * Both clients in one round.
 *
 * @param rdmaBytes bytes that the reader allocated on the heap for each block of the plug-in
 * @param objection the reason why the round is invalid, in one sentence
 */
record LatencyRound(Latencies rdma, Latencies netty, double rdmaBytes, Optional<String> objection) {
  /**
   * Joins the shares of both executors.
   *
   * @param layout whose blocks each client fetched, those of a reducer with one request
   */
  static LatencyRound of(Layout layout, List<LatencyShare> shares) {
    return new LatencyRound(
        latencies(shares, TransferEngine.RDMA),
        latencies(shares, TransferEngine.NETTY),
        (double) allocatedBytes(shares, TransferEngine.RDMA) / layout.blocks(),
        Stream.of(TransferEngine.values())
            .flatMap(engine -> objection(engine, layout, shares).stream())
            .findFirst());
  }

  double p50Ratio() {
    return rdma.p50Us() / netty.p50Us();
  }

  double p99Ratio() {
    return rdma.p99Us() / netty.p99Us();
  }

  private static Latencies latencies(List<LatencyShare> shares, TransferEngine engine) {
    return Latencies.of(times(engine, shares));
  }

  private static long allocatedBytes(List<LatencyShare> shares, TransferEngine engine) {
    return shares.stream()
        .filter(share -> share.engine() == engine)
        .mapToLong(LatencyShare::allocatedBytes)
        .sum();
  }

  private static List<Long> times(TransferEngine engine, List<LatencyShare> shares) {
    return shares.stream()
        .filter(share -> share.engine() == engine)
        .flatMap(share -> share.ns().stream())
        .toList();
  }

  private static Optional<String> objection(
      TransferEngine engine, Layout layout, List<LatencyShare> shares) {
    int requests = times(engine, shares).size();
    if (requests != layout.reducers()) {
      return Optional.of(
          "%d requests instead of %d: engine=%s".formatted(requests, layout.reducers(), engine));
    }
    long bytes = (long) layout.blocks() * layout.blockBytes();
    List<LatencyShare> ends = shares.stream().filter(share -> share.engine() == engine).toList();
    Map<String, Long> counters = new TreeMap<>();
    ends.forEach(
        end -> end.counters().forEach((label, grown) -> counters.merge(label, grown, Long::sum)));
    boolean intact = ends.stream().map(LatencyShare::sum).distinct().count() == 1;
    return SampleCheck.objection(engine, bytes, intact, counters);
  }
}
