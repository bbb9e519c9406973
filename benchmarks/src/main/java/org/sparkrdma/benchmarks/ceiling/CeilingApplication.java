// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.ceiling;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.benchmarks.transfer.BarrierRound;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.ProgressLine;
import org.sparkrdma.launch.TimeLeft;

/**
 * The application to submit: runs all rounds of all cases, one job after the other. Its arguments
 * are the files of the {@link CeilingPlan} and of the {@link CeilingResult}.
 */
public final class CeilingApplication {
  private final JavaSparkContext spark;
  private final CeilingPlan plan;
  private final List<CeilingCase> cases = new ArrayList<>();
  private final TimeLeft time;
  private int round;

  private CeilingApplication(JavaSparkContext spark, CeilingPlan plan) {
    this.spark = spark;
    this.plan = plan;
    time = new TimeLeft(plan.allRounds(), System::nanoTime);
  }

  public static void main(String[] arguments) throws IOException {
    ObjectMapper json = new ObjectMapper();
    CeilingPlan plan = json.readValue(new File(arguments[0]), CeilingPlan.class);
    try (JavaSparkContext spark =
        new JavaSparkContext(new SparkConf().setAppName("ceiling benchmark"))) {
      json.writeValue(new File(arguments[1]), new CeilingApplication(spark, plan).measure());
    }
  }

  private CeilingResult measure() {
    // Ascending, because the server keeps the peers that it has opened.
    for (int peers : plan.peers().stream().sorted().toList()) {
      for (int blockBytes : plan.blockBytes()) {
        List<CeilingRound> measured = new ArrayList<>();
        for (int i = 0; i < plan.warmUps() + plan.rounds(); i++) {
          CeilingRound done = run(blockBytes, peers);
          if (i >= plan.warmUps()) {
            if (done.objection().isPresent()) {
              return new CeilingResult(
                  cases,
                  "blocks of %s, peers=%d: %s"
                      .formatted(new DataSize(blockBytes), peers, done.objection().get()));
            }
            measured.add(done);
          }
        }
        cases.add(CeilingCase.of(measured));
      }
    }
    return new CeilingResult(cases, null);
  }

  private CeilingRound run(int blockBytes, int peers) {
    CeilingTask task =
        new CeilingTask(
            plan.layout(blockBytes),
            peers,
            round++,
            plan.seed(),
            plan.sampleMs(),
            round == plan.allRounds());
    List<CeilingShare> shares =
        BarrierRound.run(spark, task.round(), task::run, CeilingShare.class);
    time.onStepDone();
    System.out.println(progress(plan, time, blockBytes, peers));
    return CeilingRound.of(blockBytes, peers, shares);
  }

  /** Progress after a round. */
  static ProgressLine progress(CeilingPlan plan, TimeLeft time, int blockBytes, int peers) {
    return new ProgressLine(
        "blocks of %s, peers %d%s".formatted(new DataSize(blockBytes), peers, time.estimate()),
        time.done(),
        plan.allRounds(),
        "rounds");
  }
}
