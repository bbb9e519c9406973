// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.ProgressLine;

/**
 * The application to submit: runs all rounds of all block lengths, one job after the other. Its
 * arguments are the files of the {@link TransferPlan} and of the {@link TransferResult}.
 */
public final class TransferApplication {
  private static final int MAPS = 4;
  private static final long SEED = 20_261_120;

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
   * Measures on a running application whose two executors have a machine each, without
   * verification.
   *
   * @param engine under the plug-in, for the report
   * @param totalBytes that each client fetches in each round, at least
   * @return {@link CaseReport}s as JSON
   * @throws IllegalStateException when a byte was wrong or came another way
   */
  public static String compareMachines(
      JavaSparkContext spark, String engine, List<Integer> blockBytes, int rounds, long totalBytes)
      throws IOException {
    TransferPlan plan =
        new TransferPlan(blockBytes, 1, rounds, totalBytes, MAPS, SEED, CpuScope.MACHINE);
    TransferResult result = measure(spark, plan);
    if (result.objection() != null) {
      throw new IllegalStateException(result.objection());
    }
    return new ObjectMapper()
        .writeValueAsString(CaseReport.all(engine, VerifyMode.OFF, plan, result));
  }

  private static TransferResult measure(JavaSparkContext spark, TransferPlan plan) {
    List<RoundPair> measured = new ArrayList<>();
    int round = 0;
    for (Layout layout : plan.layouts()) {
      int warmUps = plan.warmUps(layout);
      for (int i = 0; i < warmUps + plan.rounds(); i++) {
        boolean warmUp = i < warmUps;
        RoundTask task = new RoundTask(layout, round++, warmUp, plan.seed(), plan.cpu());
        RoundPair pair = RoundPair.of(layout.blockBytes(), run(spark, task));
        if (pair.objection().isPresent()) {
          return new TransferResult(
              measured,
              "blocks of %s, round %d: %s"
                  .formatted(new DataSize(layout.blockBytes()), i + 1, pair.objection().get()));
        }
        if (!warmUp) {
          measured.add(pair);
        }
        printProgress(plan, layout, i + 1);
      }
    }
    return new TransferResult(measured, null);
  }

  private static List<EngineShare> run(JavaSparkContext spark, RoundTask task) {
    return BarrierRound.run(spark, task.round(), task::run, EngineShare.class);
  }

  private static void printProgress(TransferPlan plan, Layout layout, int roundsDone) {
    System.out.println(
        new ProgressLine(
            "blocks of " + new DataSize(layout.blockBytes()),
            roundsDone,
            plan.warmUps(layout) + plan.rounds(),
            "rounds"));
  }
}
