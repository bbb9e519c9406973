// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.latency;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.benchmarks.transfer.BarrierRound;
import org.sparkrdma.benchmarks.transfer.Layout;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.ProgressLine;

/**
 * The application to submit: runs all rounds of all block lengths, one job after the other. Its
 * arguments are the files of the {@link LatencyPlan} and of the {@link LatencyResult}.
 */
public final class LatencyApplication {
  private final JavaSparkContext spark;
  private final LatencyPlan plan;
  private int round;

  private LatencyApplication(JavaSparkContext spark, LatencyPlan plan) {
    this.spark = spark;
    this.plan = plan;
  }

  public static void main(String[] arguments) throws IOException {
    ObjectMapper json = new ObjectMapper();
    LatencyPlan plan = json.readValue(new File(arguments[0]), LatencyPlan.class);
    try (JavaSparkContext spark =
        new JavaSparkContext(new SparkConf().setAppName("latency benchmark"))) {
      json.writeValue(new File(arguments[1]), new LatencyApplication(spark, plan).measure());
    }
  }

  private LatencyResult measure() {
    List<LatencyCase> cases = new ArrayList<>();
    for (int blockBytes : plan.blockBytes()) {
      Layout layout = plan.layout(blockBytes);
      List<LatencyRound> measured = new ArrayList<>();
      for (int i = 0; i < plan.allRounds(); i++) {
        LatencyRound done = run(layout);
        if (done.objection().isPresent()) {
          return new LatencyResult(
              cases,
              "blocks of %s, round %d: %s"
                  .formatted(new DataSize(blockBytes), i + 1, done.objection().get()));
        }
        if (i >= plan.warmUps()) {
          measured.add(done);
        }
        System.out.println(
            new ProgressLine(
                "blocks of " + new DataSize(blockBytes), i + 1, plan.allRounds(), "rounds"));
      }
      cases.add(LatencyCase.of(layout, measured));
    }
    return new LatencyResult(cases, null);
  }

  private LatencyRound run(Layout layout) {
    LatencyTask task = new LatencyTask(layout, round++, plan.seed());
    List<LatencyShare> shares =
        BarrierRound.run(spark, task.round(), task::run, LatencyShare.class);
    return LatencyRound.of(layout, shares);
  }
}
