// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Both engines' measurements of one round, taken directly after each other.
 *
 * @param blockBytes length of each block
 * @param blocks number of blocks of the layout
 */
record Round(int blockBytes, int blocks, List<Share> shares) {
  private static final String RDMA_BYTES = "rdma.bytes.read";
  private static final double NS_PER_US = 1e3;
  private static final double MEDIAN = 0.5;
  private static final double P99 = 0.99;

  private Share share(TransferEngine engine, boolean server) {
    List<Share> found =
        shares.stream()
            .filter(share -> share.engine() == engine && share.server() == server)
            .toList();
    if (found.size() != 1) {
      throw new IllegalArgumentException(
          "shares of a round: engine=%s server=%s count=%d"
              .formatted(engine, server, found.size()));
    }
    return found.get(0);
  }

  private Share client(TransferEngine engine) {
    return share(engine, false);
  }

  private Share server(TransferEngine engine) {
    return share(engine, true);
  }

  /**
   * The reason why the round is invalid, in one sentence: the bytes read differ from those written,
   * not all bytes of the plug-in's client used RDMA READ, or some of Spark's own did.
   */
  Optional<String> objection(TransferKind kind) {
    return Arrays.stream(TransferEngine.values())
        .flatMap(engine -> objection(kind, engine).stream())
        .findFirst();
  }

  private Optional<String> objection(TransferKind kind, TransferEngine engine) {
    Share client = client(engine);
    Share server = server(engine);
    if (kind != TransferKind.CEILING) {
      if (client.work().blocks() != blocks) {
        return Optional.of(
            "%d blocks instead of %d: engine=%s".formatted(client.work().blocks(), blocks, engine));
      }
      if (client.work().sum() != server.work().sum()) {
        return Optional.of("bytes read differ from bytes written: engine=" + engine);
      }
    }
    Map<String, Long> counters = new TreeMap<>(client.counters());
    server.counters().forEach((label, grown) -> counters.merge(label, grown, Long::sum));
    long rdmaBytes = counters.getOrDefault(RDMA_BYTES, 0L);
    long bytes = client.work().blocks() * blockBytes;
    long wantedBytes = engine == TransferEngine.RDMA ? bytes : 0;
    return rdmaBytes == wantedBytes
        ? Optional.empty()
        : Optional.of(
            "%d of %d bytes used RDMA READ, expected %d: engine=%s %s"
                .formatted(rdmaBytes, bytes, wantedBytes, engine, counters));
  }

  /** The figures of this round by their names, which are those of the report. */
  Map<String, Double> figures(TransferKind kind) {
    return switch (kind) {
      case THROUGHPUT -> throughput();
      case LATENCY -> latency();
      case CEILING -> ceiling();
    };
  }

  /** Ratios are those of the plug-in to Spark's own client; CPU times are seconds per 10⁹ bytes. */
  private Map<String, Double> throughput() {
    Map<String, Double> figures = new LinkedHashMap<>();
    for (TransferEngine engine : TransferEngine.values()) {
      double bytes = (double) client(engine).work().blocks() * blockBytes;
      figures.put(engine + "GbPerSecond", bytes / client(engine).ns());
      figures.put(engine + "ServerSecondsPerGb", server(engine).cpuNs() / bytes);
      figures.put(engine + "ClientSecondsPerGb", client(engine).cpuNs() / bytes);
    }
    divide(figures, "throughput", "rdmaGbPerSecond", "nettyGbPerSecond");
    divide(figures, "serverCpu", "rdmaServerSecondsPerGb", "nettyServerSecondsPerGb");
    divide(figures, "clientCpu", "rdmaClientSecondsPerGb", "nettyClientSecondsPerGb");
    return figures;
  }

  private static void divide(
      Map<String, Double> figures, String ratio, String value, String baseline) {
    figures.put(ratio, figures.get(value) / figures.get(baseline));
  }

  private Map<String, Double> latency() {
    Map<String, Double> figures = new LinkedHashMap<>();
    for (TransferEngine engine : TransferEngine.values()) {
      List<Long> ns = client(engine).work().requestNs();
      figures.put(engine + "P50Us", percentileUs(ns, MEDIAN));
      figures.put(engine + "P99Us", percentileUs(ns, P99));
    }
    divide(figures, "p50", "rdmaP50Us", "nettyP50Us");
    divide(figures, "p99", "rdmaP99Us", "nettyP99Us");
    figures.put(
        "rdmaBytesPerBlock", (double) client(TransferEngine.RDMA).allocatedBytes() / blocks);
    return figures;
  }

  /** The nearest-rank percentile: the smallest time that this part of all does not exceed. */
  private static double percentileUs(List<Long> ns, double part) {
    long[] sorted = ns.stream().mapToLong(Long::longValue).sorted().toArray();
    int rank = (int) Math.ceil(part * sorted.length);
    return sorted[Math.max(0, rank - 1)] / NS_PER_US;
  }

  /** Names that end in Us are microseconds of CPU time for each block. */
  private Map<String, Double> ceiling() {
    Map<String, Double> figures = new LinkedHashMap<>();
    for (TransferEngine engine : TransferEngine.values()) {
      long bothNs = client(engine).cpuNsWithoutDevice() + server(engine).cpuNsWithoutDevice();
      figures.put(engine + "BothUs", usPerBlock(engine, bothNs));
    }
    divide(figures, "cpu", "rdmaBothUs", "nettyBothUs");
    Share client = client(TransferEngine.RDMA);
    Share server = server(TransferEngine.RDMA);
    figures.put("clientUs", usPerBlock(TransferEngine.RDMA, client.cpuNsWithoutDevice()));
    figures.put("serverUs", usPerBlock(TransferEngine.RDMA, server.cpuNsWithoutDevice()));
    double blocksRead = client.work().blocks();
    figures.put("clientBytesPerBlock", client.allocatedBytes() / blocksRead);
    figures.put("serverBytesPerBlock", server.allocatedBytes() / blocksRead);
    return figures;
  }

  private double usPerBlock(TransferEngine engine, long ns) {
    return ns / NS_PER_US / client(engine).work().blocks();
  }
}
