// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.recovery;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.benchmarks.tera.ExecutorUsage;
import org.sparkrdma.launch.ProgressLine;
import scala.Function1;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.collection.Iterator$;
import scala.reflect.ClassTag$;

/**
 * The application to submit: runs the same job a few times and kills an executor during the last
 * one. Its arguments are the files of the {@link RecoveryPlan} and of the {@link RecoveryResult}.
 */
public final class RecoveryApplication {
  private static final int EXECUTORS = 2;

  private static final long LISTENERS_MS = 60_000;
  private static final String READ_BYTES = "rdma.bytes.read";

  private RecoveryApplication() {}

  public static void main(String[] arguments) throws IOException, TimeoutException {
    ObjectMapper json = new ObjectMapper();
    RecoveryPlan plan = json.readValue(new File(arguments[0]), RecoveryPlan.class);
    try (JavaSparkContext spark =
        new JavaSparkContext(new SparkConf().setAppName("recovery benchmark"))) {
      json.writeValue(new File(arguments[1]), measure(spark, plan));
    }
  }

  private static RecoveryResult measure(JavaSparkContext spark, RecoveryPlan plan)
      throws TimeoutException {
    for (int i = 0; i < plan.warmUps(); i++) {
      printProgress(i, plan);
      NoiseShuffle.run(spark, plan);
    }
    printProgress(plan.warmUps(), plan);
    long startNs = System.nanoTime();
    long expected = NoiseShuffle.run(spark, plan);
    double undisturbed = seconds(startNs, System.nanoTime());
    long readBytes = readBytes(spark);
    // The listener below must not receive the events of these jobs.
    spark.sc().listenerBus().waitUntilEmpty(LISTENERS_MS);

    ExecutorKillListener loss = new ExecutorKillListener(firstExecutor(spark), plan.killAfter());
    spark.sc().listenerBus().waitUntilEmpty(LISTENERS_MS);
    spark.sc().addSparkListener(loss);
    printProgress(plan.warmUps() + 1, plan);
    long disturbedNs = System.nanoTime();
    long checksum = NoiseShuffle.run(spark, plan);
    long endNs = System.nanoTime();
    spark.sc().listenerBus().waitUntilEmpty(LISTENERS_MS);
    if (checksum != expected) {
      throw new IllegalStateException("the job that lost an executor has a different result");
    }
    if (loss.lossNs() == 0 || loss.lossNs() > endNs || loss.retriedStages() == 0) {
      throw new IllegalStateException(
          "the executor was lost too late: nothing had to be computed again");
    }
    return new RecoveryResult(
        undisturbed,
        seconds(disturbedNs, endNs),
        seconds(loss.lossNs(), endNs),
        loss.failedTasks(),
        loss.retriedStages(),
        readBytes,
        checksum);
  }

  private static double seconds(long startNs, long endNs) {
    return (endNs - startNs) / 1e9;
  }

  private static long readBytes(JavaSparkContext spark) {
    return ExecutorUsage.ofAll(spark, EXECUTORS).values().stream()
        .mapToLong(usage -> usage.counters().getOrDefault(READ_BYTES, 0L))
        .sum();
  }

  /** The process of the executor with the first id; a barrier stage runs on all executors. */
  private static long firstExecutor(JavaSparkContext spark) {
    Map<String, Long> processes = new TreeMap<>();
    List<Tuple2<String, Long>> answers =
        spark
            .parallelize(List.of(0, 1), EXECUTORS)
            .rdd()
            .barrier()
            .mapPartitions(
                (Function1<Iterator<Integer>, Iterator<Tuple2<String, Long>>> & Serializable)
                    ignored ->
                        Iterator$.MODULE$.single(
                            new Tuple2<>(
                                SparkEnv.get().executorId(), ProcessHandle.current().pid())),
                false,
                ClassTag$.MODULE$.<Tuple2<String, Long>>apply(Tuple2.class))
            .toJavaRDD()
            .collect();
    answers.forEach(answer -> processes.put(answer._1, answer._2));
    return processes.values().iterator().next();
  }

  private static void printProgress(int done, RecoveryPlan plan) {
    System.out.println(new ProgressLine("shuffles", done, plan.warmUps() + 2, "jobs"));
  }
}
