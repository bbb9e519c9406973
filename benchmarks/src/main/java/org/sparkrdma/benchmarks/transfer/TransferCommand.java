// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.sparkrdma.benchmarks.jobs.Environment;
import org.sparkrdma.benchmarks.transfer.TransferPlan.Kind;
import org.sparkrdma.benchmarks.transfer.TransferPlan.Verify;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.launch.ClusterOptions;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.LaunchOptions;
import org.sparkrdma.launch.MeasuringRuns;
import org.sparkrdma.launch.MisuseException;
import org.sparkrdma.shuffle.RdmaShuffleManager;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command behind {@code ./bench transfer}: fetches the same blocks by both clients in turn and
 * compares them. The script's help describes the options.
 */
@Command(name = "bench transfer", customSynopsis = "./bench transfer --help")
public final class TransferCommand implements Callable<Integer> {
  private static final String ENGINE = "soft";

  /** A quarter of the default of --total, so that windows are evicted. */
  private static final DataSize PINNED = new DataSize(256L << 20);

  /** A device without cost must not wait for pinned memory. */
  private static final DataSize CEILING_PINNED = new DataSize(1L << 30);

  /** Limit of bytes in flight; a larger block would not fit in one request. */
  private static final DataSize LARGEST_BLOCK = new DataSize(BlockFetcher.MAX_BYTES_IN_FLIGHT);

  /** Spark requests at most a fifth of 48 MiB at once. */
  private static final DataSize MAX_REQUEST = new DataSize(8L << 20);

  /** The most blocks of a single request. */
  public static final int MAX_BATCH = 2_000;

  @Mixin private ClusterOptions options;

  @Option(names = "--latency")
  private boolean latency;

  @Option(names = "--cold")
  private boolean cold;

  @Option(names = "--first")
  private boolean first;

  @Option(names = "--ceiling")
  private boolean ceiling;

  @Option(names = "--sizes", split = ",", defaultValue = "4k,64k,1m,16m")
  private List<DataSize> sizes;

  @Option(names = "--verify", split = ",")
  private List<Verify> verify = new ArrayList<>();

  @Option(names = "--copy")
  private boolean copy;

  @Option(names = "--agent-posts")
  private boolean agentPosts;

  @Option(names = "--index-in-memory")
  private boolean indexInMemory;

  @Option(names = "--batch", defaultValue = "1")
  private int batch;

  @Option(names = "--rounds", defaultValue = "3")
  private int rounds;

  @Option(names = "--warm-ups", defaultValue = "4")
  private int warmUps;

  @Option(names = "--total", defaultValue = "1g")
  private DataSize total;

  @Mixin private LaunchOptions.FlightRecordings recordings;

  @Override
  public Integer call() throws LaunchException, IOException, InterruptedException {
    check();
    return options.run("bench", settings -> settings, this::measure);
  }

  private Kind kind() {
    if (latency || first) {
      return first ? Kind.FIRST : Kind.LATENCY;
    }
    return ceiling ? Kind.CEILING : Kind.THROUGHPUT;
  }

  private TransferPlan plan(Verify mode) {
    return new TransferPlan(
        kind(),
        ENGINE,
        mode,
        copy,
        agentPosts,
        indexInMemory,
        sizes.stream().distinct().map(size -> Math.toIntExact(size.bytes())).toList(),
        batch,
        cold,
        warmUps,
        rounds,
        total.bytes());
  }

  private void check() {
    if (Stream.of(latency, first, ceiling).filter(given -> given).count() > 1) {
      throw new MisuseException(
          "--latency, --first and --ceiling measure different things: give one of them");
    }
    if (cold && !latency) {
      throw new MisuseException(
          "--cold is about the map outputs of single requests: give --latency as well");
    }
    if (ceiling && verify.isEmpty()) {
      verify.add(Verify.OFF);
    }
    if (ceiling && !verify.equals(List.of(Verify.OFF))) {
      throw new MisuseException(
          "--verify needs bytes, which no block has with --ceiling: give off");
    }
    if (ceiling && agentPosts) {
      throw new MisuseException(
          "--ceiling and --agent-posts have devices of their own: give one of them");
    }
    LaunchOptions.checkRounds(rounds, warmUps);
    LaunchOptions.check("--batch", batch, 1, MAX_BATCH);
    if (batch > 1 && !kind().isSingle()) {
      throw new MisuseException(
          "--batch is the number of blocks of a request of --latency or --first: give one of them");
    }
    for (DataSize size : sizes) {
      if (size.bytes() > LARGEST_BLOCK.bytes()) {
        throw new MisuseException(
            "--sizes has '%s': give sizes of at most %s".formatted(size, LARGEST_BLOCK));
      }
      if (batch > 1 && batch * size.bytes() > MAX_REQUEST.bytes()) {
        throw new MisuseException(
            "--batch is '%d': give a number whose blocks of %s have at most %s together"
                .formatted(batch, size, MAX_REQUEST));
      }
    }
  }

  private void measure(MeasuringRuns runs)
      throws LaunchException, IOException, InterruptedException {
    TransferReport report = new TransferReport(Environment.now(), new ArrayList<>());
    for (Verify mode : verify.isEmpty() ? Collections.<Verify>singletonList(null) : verify) {
      String name = kind() + (mode == null ? "" : "-verify-" + mode);
      TransferReport.Case[] cases =
          runs.run(name, plan(mode), conf(mode), TransferReport.Case[].class, step -> {});
      report.cases().addAll(List.of(cases));
    }
    options.publish(report.table(), report);
    System.out.println(
        agentPosts
            ? "Requests were sent by the agent, as with disni."
            : "Requests were sent by the tasks, as with all engines but disni.");
    System.out.println(
        switch (kind()) {
          case CEILING ->
              "No byte of RDMA's blocks moved: these are costs of the plug-in, not speeds of a network.";
          case LATENCY, FIRST ->
              "All bytes of RDMA came by READ on the soft engine, and every byte read was compared.";
          case THROUGHPUT ->
              (copy
                      ? "Blocks that found all copy buffers in use came by TCP, the others by READ"
                      : "All bytes of RDMA came by READ")
                  + " on the soft engine. The comparison found no wrong byte: it covers every byte in"
                  + " warm-up rounds and an eighth of them in measured rounds.";
        });
  }

  /**
   * Settings of an application that fetches by both clients.
   *
   * @param mode null for none that is set, so that the plug-in verifies as it does by default
   */
  private Map<String, String> conf(Verify mode) throws IOException {
    Map<String, String> conf = new HashMap<>(mode == null ? Map.of() : mode.conf());
    conf.putAll(recordings.conf());
    if (copy) {
      conf.put("spark.shuffle.rdma.serve", "copy");
    }
    // On a busy machine blocks would come by TCP, too, whose time is not what is measured.
    conf.put("spark.shuffle.rdma.waits.factor", "20");
    // A round that fails ends the benchmark without a retry.
    conf.put("spark.task.maxFailures", "1");
    conf.put("spark.stage.maxConsecutiveAttempts", "1");
    Class<?> manager = indexInMemory ? IndexInMemoryManager.class : RdmaShuffleManager.class;
    conf.put("spark.shuffle.manager", manager.getName());
    conf.put("spark.shuffle.rdma.mode", "required");
    conf.put("spark.shuffle.rdma.fabric.trusted", "true");
    conf.put("spark.shuffle.rdma.pinned.max", Long.toString(PINNED.bytes()));
    if (agentPosts) {
      conf.put("spark.shuffle.rdma.engine", AgentPostsProvider.NAME);
    }
    if (ceiling) {
      conf.put("spark.shuffle.rdma.engine", NoCopyProvider.NAME);
      conf.put("spark.shuffle.rdma.pinned.max", Long.toString(CEILING_PINNED.bytes()));
      conf.put("spark.shuffle.rdma.soft.latency", "10us");
      conf.putAll(NoCopyProvider.conf());
    }
    return conf;
  }
}
