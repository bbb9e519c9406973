// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.latency;

import java.util.List;
import org.sparkrdma.benchmarks.transfer.Layout;
import org.sparkrdma.benchmarks.transfer.Spread;

/**
 * One block length: medians and ranges of the rounds.
 *
 * @param requests number of requests of a round
 * @param batch blocks of each
 * @param p50Ratio RDMA's median time over that of Spark's own client, of each round
 * @param p99Ratio the same of the times that 99 % of the requests do not exceed
 * @param rdmaBytes bytes that the reader allocated on the heap for each block of the plug-in: the
 *     task, which is the benchmark's own, and the plug-in
 */
record LatencyCase(
    int blockBytes,
    int requests,
    int batch,
    int rounds,
    Spread p50Ratio,
    Spread p99Ratio,
    Spread rdmaP50Us,
    Spread rdmaP99Us,
    Spread nettyP50Us,
    Spread nettyP99Us,
    Spread rdmaBytes) {
  /**
   * @param rounds at least one
   */
  static LatencyCase of(Layout layout, List<LatencyRound> rounds) {
    return new LatencyCase(
        layout.blockBytes(),
        layout.reducers(),
        layout.maps(),
        rounds.size(),
        Spread.of(rounds, LatencyRound::p50Ratio),
        Spread.of(rounds, LatencyRound::p99Ratio),
        Spread.of(rounds, round -> round.rdma().p50Us()),
        Spread.of(rounds, round -> round.rdma().p99Us()),
        Spread.of(rounds, round -> round.netty().p50Us()),
        Spread.of(rounds, round -> round.netty().p99Us()),
        Spread.of(rounds, LatencyRound::rdmaBytes));
  }
}
