// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.Function;
import org.apache.spark.api.java.function.VoidFunction;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.RunResult;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.launch.ProgressLog;
import org.sparkrdma.launch.TaskProgress;

/**
 * Runs a plan: one Spark application after the other in this JVM, each with executors of its own.
 * Master and other settings are those of spark-submit.
 */
final class BenchmarkRuns {
  /** Settings that every benchmark fixes, so that results can be compared. */
  private static final Map<String, String> FIXED_SETTINGS =
      Map.of(
          "spark.serializer", "org.apache.spark.serializer.KryoSerializer",
          "spark.shuffle.compress", "true",
          "spark.io.compression.codec", "lz4",
          // With up to 200 partitions Spark would create a serializer for each block that it
          // writes: about a millisecond each, much more than the block's way to its reader.
          "spark.shuffle.sort.bypassMergeThreshold", "0",
          // Spark runs reducers where a fifth of their input is. With two executors and two jobs at
          // once the bytes that cross the network would then differ by ten times between runs.
          "spark.shuffle.reduceLocality.enabled", "false",
          "spark.speculation", "false",
          // The executors must be the same ones from the warm-up to the end of the measured run.
          "spark.dynamicAllocation.enabled", "false",
          "spark.scheduler.minRegisteredResourcesRatio", "1.0",
          "spark.scheduler.maxRegisteredResourcesWaitingTime", "120s",
          // Joins must shuffle both sides.
          "spark.sql.autoBroadcastJoinThreshold", "-1");

  /** Keys that every run of some shuffles sets, whatever the user's settings. */
  static Set<String> fixedKeys(List<ShuffleMode> modes) {
    Set<String> keys = new HashSet<>(FIXED_SETTINGS.keySet());
    modes.forEach(mode -> keys.addAll(mode.conf().keySet()));
    return keys;
  }

  private final BenchmarkPlan plan;
  private final Consumer<ProgressLog.Line> progress;
  private final Function<String, Workload> workloads;
  private final Environment environment = Environment.now();
  private int runsDone;

  /** The first answer of the present shape, with which all others are compared; null before it. */
  private ComputedAnswer firstAnswer;

  /**
   * @param progress is given each step
   * @param workloads the job in a shape
   */
  BenchmarkRuns(
      BenchmarkPlan plan,
      Consumer<ProgressLog.Line> progress,
      Function<String, Workload> workloads) {
    this.plan = plan;
    this.progress = progress;
    this.workloads = workloads;
  }

  /**
   * Returns when all runs are done and all answers are equal, those of warm-ups included.
   *
   * @throws LaunchException when an answer differs or the runs cannot be compared
   */
  BenchmarkReport run() throws Exception {
    List<BenchmarkReport.CaseReport> cases = new ArrayList<>();
    for (String shape : plan.shapes()) {
      Workload workload = workloads.call(shape);
      firstAnswer = null;
      prepare(workload, shape);
      List<RunResult> results = new ArrayList<>();
      if (plan.rounds() > 1 && runsDone == 0) {
        // The driver's JVM is cold, which would be to the disadvantage of the first shuffle.
        measure(workload, shape, plan.modes().get(0), 0);
      }
      for (int round = 1; round <= plan.rounds(); round++) {
        for (ShuffleMode mode : BenchmarkPlan.order(plan.modes(), round)) {
          RunResult result = measure(workload, shape, mode, round);
          results.add(result);
          int expected = results.get(0).executors();
          if (result.executors() != expected) {
            throw new LaunchException(
                "%s %s, round %d, %s: %d executors instead of %d: results cannot be compared"
                    .formatted(plan.job(), shape, round, mode, result.executors(), expected));
          }
        }
      }
      cases.add(BenchmarkReport.CaseReport.of(shape, plan.modes(), results));
    }
    return new BenchmarkReport(plan, environment, cases);
  }

  private void prepare(Workload workload, String shape) throws Exception {
    if (!plan.job().readsFiles()) {
      return;
    }
    application(
        ShuffleMode.VANILLA,
        spark -> {
          spark.sc().setJobDescription("generate the input of " + plan.job() + " " + shape);
          try {
            workload.prepare(spark, plan.data());
          } catch (LinkageError e) {
            // This is the first use of the classes that the jars of a job have.
            throw new LaunchException(
                ("%s does not find all classes that it needs (%s): give spark-submit the job's jar in --jars;"
                        + " tpch and tpcds need Spark 4 or newer, because Spark 3.5 has an old Guava")
                    .formatted(plan.job(), e));
          }
          return null;
        });
  }

  private RunResult measure(Workload workload, String shape, ShuffleMode mode, int round)
      throws Exception {
    String run =
        round == 0
            ? shape + ", first run, which does not count"
            : "%s, round %d, %s".formatted(shape, round, mode);
    String warmUp = run + ", warm-up";
    progress.accept(new ProgressLog.Line(run + ", start", runsDone, plan.runs(), "runs"));
    return application(
        mode,
        spark -> {
          for (int i = 1; i <= plan.warmUps(); i++) {
            spark.sc().setJobDescription(describe(warmUp));
            requireSameAnswer(workload.run(spark, plan.data()).call(), warmUp);
            runsDone++;
          }
          VoidFunction<ComputedAnswer> check = answer -> requireSameAnswer(answer, run);
          RunResult sum = null;
          for (int i = 1; i <= plan.repeats(); i++) {
            RunResult result =
                new MeasuredRun(spark, plan.freezes())
                    .run(workload, plan.data(), mode, round, describe(run), check);
            runsDone++;
            sum = sum == null ? result : sum.plus(result);
          }
          return sum;
        });
  }

  /** Description of the next run, for the progress of its tasks. */
  private String describe(String run) {
    return "run %d of %d, %s".formatted(runsDone + 1, plan.runs(), run);
  }

  private <T> T application(ShuffleMode mode, Function<JavaSparkContext, T> work) throws Exception {
    // The user's settings, then the fixed ones, then those of the mode.
    SparkConf conf = new SparkConf();
    // The number of cores is read from the value that Spark derives without it.
    conf.remove("spark.default.parallelism");
    FIXED_SETTINGS.forEach(conf::set);
    mode.conf().forEach(conf::set);
    conf.setAppName("shuffle benchmark: " + plan.job() + ", " + mode);
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      spark.sc().addSparkListener(new TaskProgress(progress));
      // The scheduler of Hadoop's TeraSort input is for clusters with data on their disks.
      spark.hadoopConfiguration().setBoolean("mapreduce.terasort.use.terascheduler", false);
      return work.call(spark);
    }
  }

  private void requireSameAnswer(ComputedAnswer answer, String run) throws LaunchException {
    if (firstAnswer == null) {
      firstAnswer = answer;
    }
    Optional<String> difference = answer.difference(firstAnswer);
    if (difference.isPresent()) {
      throw new LaunchException(
          "%s %s: wrong answer: %s".formatted(plan.job(), run, difference.get()));
    }
  }
}
