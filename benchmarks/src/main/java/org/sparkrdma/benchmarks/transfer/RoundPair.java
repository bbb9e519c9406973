// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.List;
import java.util.Optional;

/**
 * Both engines' samples of one round, taken directly after each other.
 *
 * @param copies cost of the copies alone, in the same round
 */
record RoundPair(int blockBytes, Sample rdma, Sample netty, CopyCost copies) {
  /** Joins the shares of both executors. */
  static RoundPair of(int blockBytes, List<EngineShare> shares) {
    return new RoundPair(
        blockBytes,
        sample(shares, TransferEngine.RDMA),
        sample(shares, TransferEngine.NETTY),
        only(shares, TransferEngine.RDMA, EngineShare.Copied.class).cost());
  }

  private static Sample sample(List<EngineShare> shares, TransferEngine engine) {
    return Sample.of(
        only(shares, engine, EngineShare.Served.class),
        only(shares, engine, EngineShare.Fetched.class));
  }

  private static <T extends EngineShare> T only(
      List<EngineShare> shares, TransferEngine engine, Class<T> type) {
    List<T> found =
        shares.stream()
            .filter(share -> share.engine() == engine)
            .filter(type::isInstance)
            .map(type::cast)
            .toList();
    if (found.size() != 1) {
      throw new IllegalArgumentException(
          "shares of a round: engine=%s type=%s count=%d"
              .formatted(engine, type.getSimpleName(), found.size()));
    }
    return found.get(0);
  }

  /** The error of a sample, in one sentence. */
  Optional<String> objection() {
    return SampleCheck.objection(rdma).or(() -> SampleCheck.objection(netty));
  }

  double throughputRatio() {
    return rdma.gbPerSecond() / netty.gbPerSecond();
  }

  double serverCpuRatio() {
    return rdma.serverCpuSecondsPerGb() / netty.serverCpuSecondsPerGb();
  }

  /** Leaves the JIT compiler of both executors out. */
  double serverCpuRatioWithoutCompiler() {
    return (rdma.serverCpuSecondsPerGb() - rdma.serverCompilerSecondsPerGb())
        / (netty.serverCpuSecondsPerGb() - netty.serverCompilerSecondsPerGb());
  }

  double clientCpuRatioWithoutCompiler() {
    return (rdma.clientCpuSecondsPerGb() - rdma.clientCompilerSecondsPerGb())
        / (netty.clientCpuSecondsPerGb() - netty.clientCompilerSecondsPerGb());
  }

  double clientCpuRatio() {
    return rdma.clientCpuSecondsPerGb() / netty.clientCpuSecondsPerGb();
  }

  /** The throughput ratio of a client that only copies. */
  double copiesThroughputRatio() {
    return copies.gbPerSecond() / netty.gbPerSecond();
  }

  /** The CPU ratio of a client that only copies. */
  double copiesClientCpuRatio() {
    return copies.secondsPerGb() / netty.clientCpuSecondsPerGb();
  }
}
