// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.broadcast;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.benchmarks.jobs.BenchmarkPlan;
import org.sparkrdma.benchmarks.jobs.Environment;
import org.sparkrdma.benchmarks.jobs.ExecutorUsage;
import org.sparkrdma.benchmarks.jobs.Workload;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.MeasuredApplication;
import org.sparkrdma.launch.ProgressLog;
import org.sparkrdma.launch.Quartiles;

/**
 * The work of the driver: one Spark application after the other in its JVM, each with executors of
 * its own.
 *
 * @param join whether each value is the smaller table of an SQL join
 * @param modes to compare; ratios are to the first
 * @param rounds in which each mode has one application
 * @param warmUps values before the measured ones, in the same executors
 */
record BroadcastPlan(boolean join, List<Shape> shapes, List<Mode> modes, int rounds, int warmUps)
    implements MeasuredApplication.Plan {
  /** Measured values of each application, whose median counts. */
  private static final int VALUES = 3;

  /** The round that only counts what the driver sends. */
  static final int EGRESS_ROUND = 0;

  @Override
  public BroadcastResult measure() throws LaunchException {
    Environment environment = Environment.now();
    List<BroadcastResult.Run> runs = new ArrayList<>();
    for (Shape shape : shapes) {
      for (int round = EGRESS_ROUND; round <= rounds; round++) {
        for (Mode mode : BenchmarkPlan.order(modes, round)) {
          String phase = "%s, round %d, %s".formatted(shape, round, mode);
          System.out.println(new ProgressLog.Line(phase, round, rounds, "rounds"));
          runs.add(new BroadcastResult.Run(shape, mode, round, measure(shape, mode, round)));
        }
      }
    }
    return new BroadcastResult(environment, this, runs);
  }

  private Map<String, Double> measure(Shape shape, Mode mode, int round) throws LaunchException {
    boolean isEgress = round == EGRESS_ROUND;
    SparkConf conf = new SparkConf().setAppName("broadcast benchmark, " + mode);
    conf.set("spark.executor.memory", shape.heapMib(join) + "m");
    conf.set("spark.cores.max", Integer.toString(shape.executors()));
    mode.conf().forEach(conf::set);
    if (isEgress) {
      // Epoll sends by send(2), which the system does not count for a process.
      conf.set("spark.shuffle.io.mode", "NIO");
    }
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      BroadcastValue value = new BroadcastValue(spark, shape);
      List<Map<String, Double>> measured = new ArrayList<>();
      long readBefore = 0;
      for (int i = 0; i < warmUps + VALUES; i++) {
        if (i == warmUps) {
          readBefore = bytesByRead(spark, shape);
          measured.clear();
        }
        measured.add(join ? value.measureJoin() : value.measure());
      }
      double received = (double) shape.bytes() * shape.executors() * VALUES;
      Map<String, Double> medians = new HashMap<>();
      for (String name : measured.get(0).keySet()) {
        medians.put(name, Quartiles.of(measured, each -> each.get(name)).median());
      }
      medians.put("read", (bytesByRead(spark, shape) - readBefore) / received);
      medians.keySet().removeIf(name -> name.equals("egress") != isEgress);
      return medians;
    }
  }

  private static long bytesByRead(JavaSparkContext spark, Shape shape) {
    return ExecutorUsage.ofAll(spark, shape.executors()).values().stream()
        .mapToLong(usage -> usage.counters().getOrDefault("broadcast.bytes.read", 0L))
        .sum();
  }

  /**
   * Size of a value and number of executors that get it, such as {@code 100mx4}.
   *
   * @param bytes of the value
   * @param executors of one core each
   */
  record Shape(int bytes, int executors) {
    static final int MIN_EXECUTORS = 2;
    static final int MAX_EXECUTORS = 16;

    /** A value is one array of the heap, which every side has several times. */
    private static final DataSize MAX_SIZE = new DataSize(1L << 30);

    private static final int MIN_HEAP_MIB = 1_024;

    /**
     * @throws MisuseException in one sentence, if the text is no such shape
     */
    static Shape parse(String text) {
      Workload.Shape shape = Workload.Shape.parse(text, 2);
      return new Shape(shape.bytes(0, MAX_SIZE), shape.count(1, MIN_EXECUTORS, MAX_EXECUTORS));
    }

    /**
     * Heap of each executor, and of the driver, in MiB: half of it is for stored blocks, which are
     * the pieces and the value. A join has the table some more times.
     */
    int heapMib(boolean join) {
      return Math.max(MIN_HEAP_MIB, MIN_HEAP_MIB / 2 + (join ? 12 : 5) * (bytes >> 20));
    }

    /** The text for {@link #parse}. */
    @Override
    public String toString() {
      return new DataSize(bytes).toOption() + "x" + executors;
    }
  }

  /** A transfer of broadcast variables to compare; the modes differ in these settings only. */
  enum Mode {
    /** Spark without the plug-in. */
    TORRENT,
    /** The plug-in, which leaves broadcast variables to Spark. */
    OFF,
    /** The plug-in's pipeline of executors, by Spark's TCP. */
    TCP,
    /** The same pipeline by READ, with the defaults of {@code broadcast.mode=auto}. */
    READ;

    /**
     * The settings; {@link #OFF} sets no {@code broadcast.mode}, so that it measures the default.
     */
    Map<String, String> conf() {
      Map<String, String> conf = new HashMap<>();
      String manager = this == TORRENT ? "sort" : "org.sparkrdma.shuffle.RdmaShuffleManager";
      conf.put("spark.shuffle.manager", manager);
      if (this == TCP || this == READ) {
        conf.put("spark.shuffle.rdma.broadcast.mode", this == TCP ? "tcp" : "auto");
      }
      return conf;
    }

    /** The name in options, progress, table and report. */
    @JsonValue
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
