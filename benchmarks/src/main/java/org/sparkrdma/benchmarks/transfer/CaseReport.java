// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One block length under one kind of verification; each ratio is the plug-in's over Spark's own,
 * the median of the rounds.
 *
 * @param ratios the ratios with their minimum and maximum
 * @param counters counters of the plug-in, mean of one round
 */
record CaseReport(
    String engine,
    int blockBytes,
    VerifyMode verify,
    double throughputRatio,
    double serverCpuRatio,
    double clientCpuRatio,
    int rounds,
    Map<String, Spread> ratios,
    Speed rdma,
    Speed netty,
    Copies copies,
    Map<String, Long> counters) {

  /** Throughput and CPU time of one engine, per GB of 10⁹ bytes. The compiler is the JVM's. */
  record Speed(
      Spread gbPerSecond,
      Spread serverCpuSecondsPerGb,
      Spread clientCpuSecondsPerGb,
      Spread serverCompilerSecondsPerGb,
      Spread clientCompilerSecondsPerGb) {
    static Speed of(List<Sample> samples) {
      return new Speed(
          Spread.of(samples, Sample::gbPerSecond),
          Spread.of(samples, Sample::serverCpuSecondsPerGb),
          Spread.of(samples, Sample::clientCpuSecondsPerGb),
          Spread.of(samples, Sample::serverCompilerSecondsPerGb),
          Spread.of(samples, Sample::clientCompilerSecondsPerGb));
    }
  }

  /**
   * Throughput and CPU time of a client that only does the copies of {@link CopyCost}.
   *
   * @param throughputRatio computed, over Spark's own in the same round
   * @param clientCpuRatio likewise
   */
  record Copies(
      Spread copySecondsPerGb,
      Spread readSecondsPerGb,
      Spread throughputRatio,
      Spread clientCpuRatio) {
    static Copies of(List<RoundPair> pairs) {
      return new Copies(
          Spread.of(pairs, pair -> pair.copies().copySecondsPerGb()),
          Spread.of(pairs, pair -> pair.copies().readSecondsPerGb()),
          Spread.of(pairs, RoundPair::copiesThroughputRatio),
          Spread.of(pairs, RoundPair::copiesClientCpuRatio));
    }
  }

  /**
   * @param engine engine of the plug-in
   * @param pairs rounds of one block length, at least one
   */
  static CaseReport of(String engine, VerifyMode verify, List<RoundPair> pairs) {
    Spread throughput = Spread.of(pairs, RoundPair::throughputRatio);
    Spread serverCpu = Spread.of(pairs, RoundPair::serverCpuRatio);
    Spread clientCpu = Spread.of(pairs, RoundPair::clientCpuRatio);
    return new CaseReport(
        engine,
        pairs.get(0).blockBytes(),
        verify,
        throughput.median(),
        serverCpu.median(),
        clientCpu.median(),
        pairs.size(),
        new TreeMap<>(
            Map.of(
                "throughput",
                throughput,
                "serverCpu",
                serverCpu,
                "clientCpu",
                clientCpu,
                "serverCpuWithoutCompiler",
                Spread.of(pairs, RoundPair::serverCpuRatioWithoutCompiler),
                "clientCpuWithoutCompiler",
                Spread.of(pairs, RoundPair::clientCpuRatioWithoutCompiler))),
        Speed.of(pairs.stream().map(RoundPair::rdma).toList()),
        Speed.of(pairs.stream().map(RoundPair::netty).toList()),
        Copies.of(pairs),
        countersPerRound(pairs));
  }

  /** One report for each block length of the plan. */
  static List<CaseReport> all(
      String engine, VerifyMode verify, TransferPlan plan, TransferResult result) {
    return plan.blockBytes().stream()
        .map(
            bytes ->
                of(
                    engine,
                    verify,
                    result.pairs().stream().filter(pair -> pair.blockBytes() == bytes).toList()))
        .toList();
  }

  private static Map<String, Long> countersPerRound(List<RoundPair> pairs) {
    Map<String, Long> sums = new TreeMap<>();
    pairs.forEach(
        pair ->
            pair.rdma().counters().forEach((label, count) -> sums.merge(label, count, Long::sum)));
    sums.replaceAll((label, sum) -> Math.round((double) sum / pairs.size()));
    return sums;
  }
}
