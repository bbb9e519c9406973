// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.internal.config.package$;
import org.apache.spark.storage.ShuffleBlockId;
import org.sparkrdma.benchmarks.transfer.Round.Share;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.MeasuredApplication;
import org.sparkrdma.launch.ProgressLog;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import scala.Function1;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/**
 * The work of one application: all rounds of all block lengths, one job after the other.
 *
 * @param engine of the plug-in, for the report
 * @param verify by the plug-in, for the report; null without a setting
 * @param copy whether the plug-in serves copies, for the report
 * @param agentPosts whether tasks leave each request to the agent, for the report
 * @param indexInMemory whether Spark's server reads each index file only once, for the report
 * @param batch blocks of one request, when requests are single
 * @param cold whether each single request is for map outputs that none has named before
 * @param totalBytes least number of bytes that each client fetches in each round
 */
public record TransferPlan(
    Kind kind,
    String engine,
    Verify verify,
    boolean copy,
    boolean agentPosts,
    boolean indexInMemory,
    List<Integer> blockBytes,
    int batch,
    boolean cold,
    int warmUps,
    int rounds,
    long totalBytes)
    implements MeasuredApplication.Plan {
  private static final int EXECUTORS = 2;
  private static final int MAPS = 4;

  /** Requests of one round, for latency. */
  private static final int MAX_BLOCKS = 2_000;

  /** Most bytes of a round, for latency. */
  private static final long MAX_LATENCY_BYTES = 256L << 20;

  /** Kind of measurement of fetched blocks. */
  enum Kind {
    /** Throughput and CPU time while requests wait for each other. */
    THROUGHPUT,

    /** Time of one request while there is no other. */
    LATENCY,

    /** Time of the first request of new executors, for each client in executors of its own. */
    FIRST,

    /** CPU time of the plug-in itself, on a device whose READs move no bytes. */
    CEILING;

    /** Whether each request is sent after the one before it has ended. */
    boolean isSingle() {
      return this == LATENCY || this == FIRST;
    }

    /** The name in reports. */
    @JsonValue
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Verification of blocks by the plug-in; Spark's own transfer verifies none. */
  public enum Verify {
    /** No verification; Spark still writes its checksums. */
    OFF,
    /** Against Spark's default checksum. */
    ADLER32,
    /** Against CRC32C, which processors compute in hardware. */
    CRC32C;

    /** As the plug-in verifies without any setting, in an application of Spark. */
    static Verify byDefault() {
      String algorithm = new SparkConf(false).get(package$.MODULE$.SHUFFLE_CHECKSUM_ALGORITHM());
      return ShuffleSettings.defaults().verify() ? valueOf(algorithm) : OFF;
    }

    Map<String, String> conf() {
      return Map.of(
          "spark.shuffle.rdma.verify", Boolean.toString(this != OFF),
          "spark.shuffle.checksum.algorithm", (this == OFF ? ADLER32 : this).name());
    }

    /** The name in options, progress, table and report. */
    @JsonValue
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * The map outputs of one round: {@code maps} files of {@code reducers} blocks of equal length,
   * and how many of them a single request names.
   *
   * @param blockBytes a multiple of 1 KiB
   */
  record Layout(int blockBytes, int maps, int reducers, int batch) implements Serializable {
    int blocks() {
      return Math.multiplyExact(maps, reducers);
    }

    /** Spark's name of a block. */
    static String blockId(int shuffleId, int map, int reducer) {
      return new ShuffleBlockId(shuffleId, map, reducer).name();
    }
  }

  /** The map outputs of a round. For latency each request is that of one reducer. */
  private Layout layout(int bytes) {
    if (kind == Kind.FIRST) {
      return new Layout(bytes, batch, 1, batch);
    }
    if (kind == Kind.LATENCY) {
      long fitting = Math.min(MAX_BLOCKS, MAX_LATENCY_BYTES / bytes);
      int requests = Math.toIntExact(Math.max(1, fitting / batch));
      return cold
          ? new Layout(bytes, requests * batch, 1, batch)
          : new Layout(bytes, batch, requests, batch);
    }
    long perReducer = (long) MAPS * bytes;
    int reducers = Math.toIntExact((totalBytes + perReducer - 1) / perReducer);
    return new Layout(bytes, MAPS, reducers, MAPS);
  }

  /**
   * Measures the throughput on a running application whose two executors have a machine each,
   * without verification.
   *
   * @param engine under the plug-in, for the report
   * @param totalBytes that each client fetches in each round, at least
   * @return cases of a {@link TransferReport} as JSON
   * @throws LaunchException when a byte was wrong or came another way
   */
  public static String compareMachines(
      JavaSparkContext spark, String engine, List<Integer> blockBytes, int rounds, long totalBytes)
      throws LaunchException, IOException {
    TransferPlan plan =
        new TransferPlan(
            Kind.THROUGHPUT,
            engine,
            Verify.OFF,
            false,
            false,
            false,
            blockBytes,
            1,
            false,
            1,
            rounds,
            totalBytes);
    return new ObjectMapper().writeValueAsString(plan.measure(task -> run(spark, task)));
  }

  @Override
  public List<TransferReport.Case> measure() throws LaunchException {
    if (kind == Kind.FIRST) {
      return measure(TransferPlan::runInNewExecutors);
    }
    try (JavaSparkContext spark = newApplication()) {
      return measure(task -> run(spark, task));
    }
  }

  private static JavaSparkContext newApplication() {
    return new JavaSparkContext(new SparkConf().setAppName("transfer benchmark"));
  }

  /** The round of each client in an application of its own. */
  private static List<Share> runInNewExecutors(RoundTask task) {
    List<Share> shares = new ArrayList<>();
    for (Round.Engine engine : task.engines()) {
      try (JavaSparkContext spark = newApplication()) {
        shares.addAll(run(spark, task.of(engine)));
      }
    }
    return shares;
  }

  /**
   * @param runner returns the results of both executors
   */
  private List<TransferReport.Case> measure(Function<RoundTask, List<Share>> runner)
      throws LaunchException {
    List<TransferReport.Case> cases = new ArrayList<>();
    int number = 0;
    for (int bytes : blockBytes) {
      Layout layout = layout(bytes);
      String phase = "blocks of " + new DataSize(bytes);
      // The first block length has one more, for classes and connections.
      int unmeasured = kind == Kind.FIRST ? 0 : cases.isEmpty() ? warmUps + 1 : warmUps;
      int all = unmeasured + rounds;
      List<Round> measured = new ArrayList<>();
      for (int i = 1; i <= all; i++) {
        List<Round.Engine> engines = Round.Engine.order(number);
        RoundTask task = new RoundTask(kind, layout, number++, engines, i <= unmeasured);
        Round round = new Round(bytes, layout.blocks(), runner.apply(task));
        Optional<String> objection = round.objection(kind, copy);
        if (objection.isPresent()) {
          throw new LaunchException("%s, round %d: %s".formatted(phase, i, objection.get()));
        }
        if (i > unmeasured) {
          measured.add(round);
        }
        System.out.println(new ProgressLog.Line(phase, i, all, "rounds"));
      }
      cases.add(TransferReport.Case.of(this, bytes, measured));
    }
    return cases;
  }

  /** A barrier job of two tasks, one in each executor. Returns the results of both. */
  private static List<Share> run(JavaSparkContext spark, RoundTask task) {
    return spark
        .parallelize(List.of(0, 1), EXECUTORS)
        .rdd()
        .barrier()
        .mapPartitions(
            (Function1<Iterator<Integer>, Iterator<Share>> & Serializable) ignored -> shares(task),
            false,
            ClassTag$.MODULE$.<Share>apply(Share.class))
        .toJavaRDD()
        .collect();
  }

  private static Iterator<Share> shares(RoundTask task) {
    try {
      return CollectionConverters.asScala(task.run().iterator());
    } catch (IOException e) {
      throw new UncheckedIOException("round %d failed".formatted(task.round()), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted in round " + task.round(), e);
    }
  }
}
