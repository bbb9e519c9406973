// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.ProgressLog;
import scala.Function1;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/**
 * The application to submit: runs all rounds of all block lengths, one job after the other. Its
 * arguments are the files of the {@link TransferPlan} and of the {@link TransferReport.Result}.
 */
public final class TransferApplication {
  private static final int EXECUTORS = 2;

  private TransferApplication() {}

  public static void main(String[] arguments) throws IOException {
    ObjectMapper json = new ObjectMapper();
    TransferPlan plan = json.readValue(new File(arguments[0]), TransferPlan.class);
    try (JavaSparkContext spark =
        new JavaSparkContext(new SparkConf().setAppName("transfer benchmark"))) {
      json.writeValue(new File(arguments[1]), measure(spark, plan));
    }
  }

  /**
   * Measures the throughput on a running application whose two executors have a machine each,
   * without verification.
   *
   * @param engine under the plug-in, for the report
   * @param totalBytes that each client fetches in each round, at least
   * @return {@link TransferReport.Case}s as JSON
   * @throws IllegalStateException when a byte was wrong or came another way
   */
  public static String compareMachines(
      JavaSparkContext spark, String engine, List<Integer> blockBytes, int rounds, long totalBytes)
      throws IOException {
    TransferPlan plan =
        new TransferPlan(
            TransferPlan.Kind.THROUGHPUT,
            blockBytes,
            1,
            1,
            rounds,
            totalBytes,
            Meter.CpuScope.MACHINE);
    TransferReport.Result result = measure(spark, plan);
    if (result.objection() != null) {
      throw new IllegalStateException(result.objection());
    }
    return new ObjectMapper()
        .writeValueAsString(
            TransferReport.Case.all(plan, engine, TransferCommand.VerifyMode.OFF, result));
  }

  private static TransferReport.Result measure(JavaSparkContext spark, TransferPlan plan) {
    List<Map<String, Double>> measured = new ArrayList<>();
    int number = 0;
    for (int blockBytes : plan.blockBytes()) {
      TransferPlan.Layout layout = plan.layout(blockBytes);
      String phase = "blocks of " + new DataSize(blockBytes);
      int rounds = plan.warmUps(blockBytes) + plan.rounds();
      for (int i = 1; i <= rounds; i++) {
        boolean warmUp = i <= plan.warmUps(blockBytes);
        RoundTask task = new RoundTask(plan.kind(), layout, number++, warmUp, plan.cpu());
        Round round = new Round(blockBytes, layout.blocks(), run(spark, task));
        Optional<String> objection = round.objection(plan.kind());
        if (objection.isPresent()) {
          return new TransferReport.Result(
              measured, "%s, round %d: %s".formatted(phase, i, objection.get()));
        }
        if (!warmUp) {
          measured.add(round.figures(plan.kind()));
        }
        System.out.println(new ProgressLog.Line(phase, i, rounds, "rounds"));
      }
    }
    return new TransferReport.Result(measured, null);
  }

  /** A barrier job of two tasks, one in each executor. Returns the results of both. */
  private static List<Round.Share> run(JavaSparkContext spark, RoundTask task) {
    return spark
        .parallelize(List.of(0, 1), EXECUTORS)
        .rdd()
        .barrier()
        .mapPartitions(
            (Function1<Iterator<Integer>, Iterator<Round.Share>> & Serializable)
                ignored -> shares(task),
            false,
            ClassTag$.MODULE$.<Round.Share>apply(Round.Share.class))
        .toJavaRDD()
        .collect();
  }

  private static Iterator<Round.Share> shares(RoundTask task) {
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
