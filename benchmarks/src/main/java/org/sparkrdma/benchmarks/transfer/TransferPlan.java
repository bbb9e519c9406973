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
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.ShuffleBlockId;
import org.sparkrdma.benchmarks.transfer.Round.Share;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.MeasuredApplication;
import org.sparkrdma.launch.ProgressLog;
import scala.Function1;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/**
 * The work of one application: all rounds of all block lengths, one job after the other.
 *
 * @param engine of the plug-in, for the report
 * @param verify by the plug-in, for the report
 * @param batch blocks of one request, for latency
 * @param totalBytes least number of bytes that each client fetches in each round
 * @param cpu scope of the measured CPU time
 */
public record TransferPlan(
    Kind kind,
    String engine,
    Verify verify,
    List<Integer> blockBytes,
    int batch,
    int warmUps,
    int rounds,
    long totalBytes,
    Meter.CpuScope cpu)
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

    /** CPU time of the plug-in itself, on a device whose READs move no bytes. */
    CEILING;

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
   * The map outputs of one round: {@code maps} files of {@code reducers} blocks of equal length.
   *
   * @param blockBytes a multiple of 1 KiB
   */
  record Layout(int blockBytes, int maps, int reducers) implements Serializable {
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
    if (kind == Kind.LATENCY) {
      long fitting = Math.min(MAX_BLOCKS, MAX_LATENCY_BYTES / bytes);
      return new Layout(bytes, batch, Math.toIntExact(Math.max(1, fitting / batch)));
    }
    long perReducer = (long) MAPS * bytes;
    return new Layout(bytes, MAPS, Math.toIntExact((totalBytes + perReducer - 1) / perReducer));
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
            blockBytes,
            1,
            1,
            rounds,
            totalBytes,
            Meter.CpuScope.MACHINE);
    return new ObjectMapper().writeValueAsString(plan.measure(spark));
  }

  @Override
  public List<TransferReport.Case> measure() throws LaunchException {
    try (JavaSparkContext spark =
        new JavaSparkContext(new SparkConf().setAppName("transfer benchmark"))) {
      return measure(spark);
    }
  }

  private List<TransferReport.Case> measure(JavaSparkContext spark) throws LaunchException {
    List<TransferReport.Case> cases = new ArrayList<>();
    int number = 0;
    for (int bytes : blockBytes) {
      Layout layout = layout(bytes);
      String phase = "blocks of " + new DataSize(bytes);
      // The first block length has one more, for classes and connections.
      int unmeasured = cases.isEmpty() ? warmUps + 1 : warmUps;
      int all = unmeasured + rounds;
      List<Map<String, Double>> measured = new ArrayList<>();
      for (int i = 1; i <= all; i++) {
        RoundTask task = new RoundTask(kind, layout, number++, i <= unmeasured, cpu);
        Round round = new Round(bytes, layout.blocks(), run(spark, task));
        Optional<String> objection = round.objection(kind);
        if (objection.isPresent()) {
          throw new LaunchException("%s, round %d: %s".formatted(phase, i, objection.get()));
        }
        if (i > unmeasured) {
          measured.add(round.figures(kind));
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
