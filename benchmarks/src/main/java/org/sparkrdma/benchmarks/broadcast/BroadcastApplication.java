// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.broadcast;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.benchmarks.jobs.BenchmarkException;
import org.sparkrdma.benchmarks.jobs.Environment;
import org.sparkrdma.benchmarks.tera.ExecutorUsage;
import org.sparkrdma.launch.ProgressLog;
import org.sparkrdma.launch.Quartiles;

/**
 * The application to submit: runs one Spark application after the other in this JVM, each with
 * executors of its own. Its arguments are the files of the {@link BroadcastPlan} and of the {@link
 * BroadcastResult}.
 */
public final class BroadcastApplication {
  private BroadcastApplication() {}

  public static void main(String[] files) throws IOException, BenchmarkException {
    ObjectMapper json = new ObjectMapper();
    BroadcastPlan plan = json.readValue(new File(files[0]), BroadcastPlan.class);
    Environment environment = Environment.now();
    List<BroadcastResult.Run> runs = new ArrayList<>();
    for (BroadcastPlan.Shape shape : plan.shapes()) {
      for (int round = BroadcastPlan.EGRESS_ROUND; round <= plan.rounds(); round++) {
        for (BroadcastPlan.Mode mode : BroadcastPlan.Mode.order(plan.modes(), round)) {
          String phase = "%s, round %d, %s".formatted(shape, round, mode);
          System.out.println(new ProgressLog.Line(phase, round, plan.rounds(), "rounds"));
          Map<String, Double> figures = measure(plan, shape, mode, round);
          runs.add(new BroadcastResult.Run(shape, mode, round, figures));
        }
      }
    }
    json.writeValue(new File(files[1]), new BroadcastResult(environment, plan, runs));
  }

  private static Map<String, Double> measure(
      BroadcastPlan plan, BroadcastPlan.Shape shape, BroadcastPlan.Mode mode, int round)
      throws BenchmarkException {
    boolean isEgress = round == BroadcastPlan.EGRESS_ROUND;
    SparkConf conf = new SparkConf().setAppName("broadcast benchmark, " + mode);
    conf.set("spark.shuffle.rdma.engine", "soft");
    conf.set("spark.executor.memory", shape.heapMib(plan.join()) + "m");
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
      for (int i = 0; i < plan.warmUps() + BroadcastPlan.VALUES; i++) {
        if (i == plan.warmUps()) {
          readBefore = bytesByRead(spark, shape);
          measured.clear();
        }
        measured.add(plan.join() ? value.measureJoin() : value.measure());
      }
      double received = (double) shape.bytes() * shape.executors() * BroadcastPlan.VALUES;
      Map<String, Double> medians = new HashMap<>();
      for (String name : measured.get(0).keySet()) {
        medians.put(name, Quartiles.of(measured, each -> each.get(name)).median());
      }
      medians.put("read", (bytesByRead(spark, shape) - readBefore) / received);
      medians.keySet().removeIf(name -> name.equals("egress") != isEgress);
      return medians;
    }
  }

  private static long bytesByRead(JavaSparkContext spark, BroadcastPlan.Shape shape) {
    return ExecutorUsage.ofAll(spark, shape.executors()).values().stream()
        .flatMap(usage -> usage.counters().entrySet().stream())
        .filter(counter -> counter.getKey().equals("serve.bytes.copy"))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }
}
