// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.Serializable;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.spark.SparkEnv;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.sparkrdma.benchmarks.transfer.TransferPlan.Kind;
import org.sparkrdma.shuffle.RdmaShuffleManager;

/**
 * Both engines' measurements of one round, taken directly after each other.
 *
 * @param blockBytes length of each block
 * @param blocks number of blocks of the layout
 */
record Round(int blockBytes, int blocks, List<Share> shares) {
  private static final String RDMA_BYTES = "rdma.bytes.read";
  private static final double NS_PER_US = 1e3;
  private static final double NS_PER_MS = 1e6;
  private static final int[] PERCENTS = {50, 99};

  private Share share(Engine engine, boolean server) {
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

  private Share client(Engine engine) {
    return share(engine, false);
  }

  private Share server(Engine engine) {
    return share(engine, true);
  }

  /**
   * The reason why the round is invalid, in one sentence: the bytes read differ from those written,
   * not all bytes of the plug-in's client used RDMA READ, or some of Spark's own did.
   *
   * @param copy whether copies are served: with many requests at a time, blocks use TCP while all
   *     their buffers are in use
   */
  Optional<String> objection(Kind kind, boolean copy) {
    return Arrays.stream(Engine.values())
        .flatMap(engine -> objection(kind, copy, engine).stream())
        .findFirst();
  }

  private Optional<String> objection(Kind kind, boolean copy, Engine engine) {
    Share client = client(engine);
    Share server = server(engine);
    if (kind != Kind.CEILING) {
      if (client.work().blocks() != blocks) {
        return Optional.of(
            "%d blocks instead of %d: engine=%s".formatted(client.work().blocks(), blocks, engine));
      }
      if (client.work().sum() != server.work().sum()) {
        return Optional.of("bytes read differ from bytes written: engine=" + engine);
      }
    }
    Map<String, Long> counters = counters(engine);
    long rdmaBytes = counters.getOrDefault(RDMA_BYTES, 0L);
    long bytes = client.work().blocks() * blockBytes;
    long wantedBytes = engine == Engine.RDMA ? bytes : 0;
    long leastBytes = copy && !kind.isSingle() ? wantedBytes / 2 : wantedBytes;
    return rdmaBytes >= leastBytes && rdmaBytes <= wantedBytes
        ? Optional.empty()
        : Optional.of(
            "%d of %d bytes used RDMA READ, expected %d: engine=%s %s"
                .formatted(rdmaBytes, bytes, wantedBytes, engine, counters));
  }

  private Map<String, Long> counters(Engine engine) {
    Map<String, Long> counters = new TreeMap<>(client(engine).counters());
    server(engine).counters().forEach((label, grown) -> counters.merge(label, grown, Long::sum));
    return counters;
  }

  /** The figures of this round by their names, which are those of the report. */
  Map<String, Double> figures(Kind kind) {
    return switch (kind) {
      case THROUGHPUT -> throughput();
      case LATENCY -> latency();
      case FIRST -> first();
      case CEILING -> ceiling();
    };
  }

  /** Ratios are those of the plug-in to Spark's own client; CPU times are seconds per 10⁹ bytes. */
  private Map<String, Double> throughput() {
    Map<String, Double> figures = new LinkedHashMap<>();
    for (Engine engine : Engine.values()) {
      double bytes = (double) client(engine).work().blocks() * blockBytes;
      figures.put(engine + "GbPerSecond", bytes / client(engine).ns());
      figures.put(engine + "ServerSecondsPerGb", server(engine).cpuNs() / bytes);
      figures.put(engine + "ClientSecondsPerGb", client(engine).cpuNs() / bytes);
    }
    double rdmaBytes = counters(Engine.RDMA).getOrDefault(RDMA_BYTES, 0L);
    figures.put("rdmaByRead", rdmaBytes / client(Engine.RDMA).work().blocks() / blockBytes);
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
    Map<String, Double> figures = percentiles(List.of(this), false);
    figures.put("rdmaBytesPerBlock", (double) client(Engine.RDMA).allocatedBytes() / blocks);
    return figures;
  }

  /**
   * Percentiles of the requests of all these rounds together, and their ratios.
   *
   * @param rounds at least one, each with requests
   * @param pooled whether the figures' names say that they are of several rounds
   */
  static Map<String, Double> percentiles(List<Round> rounds, boolean pooled) {
    Map<String, Double> figures = new LinkedHashMap<>();
    for (int percent : PERCENTS) {
      String name = (pooled ? "PooledP" : "P") + percent;
      for (Engine engine : Engine.values()) {
        long[] sorted =
            rounds.stream()
                .flatMap(round -> round.client(engine).work().requestNs().stream())
                .mapToLong(Long::longValue)
                .sorted()
                .toArray();
        // The nearest rank: the smallest time that this part of all does not exceed.
        int rank = (int) Math.ceil(percent / 100.0 * sorted.length);
        figures.put(engine + name + "Us", sorted[Math.max(0, rank - 1)] / NS_PER_US);
      }
      String ratio = (pooled ? "pooledP" : "p") + percent;
      divide(figures, ratio, "rdma" + name + "Us", "netty" + name + "Us");
    }
    return figures;
  }

  private Map<String, Double> first() {
    Map<String, Double> figures = new LinkedHashMap<>();
    for (Engine engine : Engine.values()) {
      figures.put(engine + "FirstMs", client(engine).work().requestNs().get(0) / NS_PER_MS);
    }
    divide(figures, "first", "rdmaFirstMs", "nettyFirstMs");
    return figures;
  }

  /** Names that end in Us are microseconds of CPU time for each block. */
  private Map<String, Double> ceiling() {
    Map<String, Double> figures = new LinkedHashMap<>();
    for (Engine engine : Engine.values()) {
      long bothNs = client(engine).cpuNsWithoutDevice() + server(engine).cpuNsWithoutDevice();
      figures.put(engine + "BothUs", usPerBlock(engine, bothNs));
    }
    divide(figures, "cpu", "rdmaBothUs", "nettyBothUs");
    Share client = client(Engine.RDMA);
    Share server = server(Engine.RDMA);
    figures.put("clientUs", usPerBlock(Engine.RDMA, client.cpuNsWithoutDevice()));
    figures.put("serverUs", usPerBlock(Engine.RDMA, server.cpuNsWithoutDevice()));
    double blocksRead = client.work().blocks();
    figures.put("clientBytesPerBlock", client.allocatedBytes() / blocksRead);
    figures.put("serverBytesPerBlock", server.allocatedBytes() / blocksRead);
    return figures;
  }

  private double usPerBlock(Engine engine, long ns) {
    return ns / NS_PER_US / client(engine).work().blocks();
  }

  /**
   * Measurements of one executor for one engine in a round; the driver joins them.
   *
   * @param ns wall time
   * @param cpuNs CPU time meanwhile
   * @param deviceCpuNs CPU time of the thread in the place of a device, which is part of it
   * @param allocatedBytes bytes that the other Java threads have allocated
   * @param counters growth of the plug-in's counters, without zeros
   */
  record Share(
      Engine engine,
      boolean server,
      Work work,
      long ns,
      long cpuNs,
      long deviceCpuNs,
      long allocatedBytes,
      Map<String, Long> counters)
      implements Serializable {
    /** CPU time without that of the thread in the place of a device. */
    long cpuNsWithoutDevice() {
      return cpuNs - deviceCpuNs;
    }
  }

  /**
   * The blocks of a share.
   *
   * @param blocks number of blocks fetched; 0 from the server
   * @param sum sum over the bytes written or read
   * @param requestNs time of each request; empty unless it was measured
   */
  record Work(long blocks, long sum, List<Long> requestNs) implements Serializable {}

  /** A client to compare. */
  enum Engine {
    /** The plug-in's client. */
    RDMA,
    /** Spark's own transfer service. */
    NETTY;

    /** The client of this executor. */
    BlockStoreClient client(SparkEnv env) {
      return this == RDMA
          ? ((RdmaShuffleManager) env.shuffleManager()).blockStoreClient()
          : env.blockManager().blockStoreClient();
    }

    /** The order in a round. It alternates, so that neither client always runs first. */
    static List<Engine> order(int round) {
      return round % 2 == 0 ? List.of(RDMA, NETTY) : List.of(NETTY, RDMA);
    }

    /** The name in reports. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
