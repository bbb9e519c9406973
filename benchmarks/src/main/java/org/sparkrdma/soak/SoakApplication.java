// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.benchmarks.jobs.ExecutorUsage;
import org.sparkrdma.launch.ProgressLog;

/**
 * Runs random jobs with known answers, one after the other, until the time of the plan is over or a
 * job fails. Used once, by the driver's main thread.
 */
final class SoakApplication {
  private static final int JOBS_PER_READING = 8;
  private static final int TASKS_PER_READING = 4;

  private final JavaSparkContext spark;
  private final SoakPlan plan;
  private final long startNs = System.nanoTime();
  private final Map<String, Integer> jobs = new TreeMap<>();
  private final Map<String, Map<String, Long>> counters = new TreeMap<>();

  /** Dynamic allocation never ends the executor that caches it, so there is one to judge. */
  private final JavaRDD<Integer> cached;

  SoakApplication(JavaSparkContext spark, SoakPlan plan) {
    this.spark = spark;
    this.plan = plan;
    cached = spark.parallelize(List.of(1), 1).cache();
  }

  SoakPlan.Result run() {
    cached.count();
    SplittableRandom random = new SplittableRandom(plan.seed());
    for (int number = 1; seconds() < plan.seconds(); number++) {
      SoakJob job = plan.jobs().get(random.nextInt(plan.jobs().size()));
      long seed = random.nextLong();
      spark.sc().setJobDescription(job + " " + number);
      Optional<String> objection = run(job, seed);
      if (objection.isPresent()) {
        return new SoakPlan.Result(
            jobs, counters, "job %d, %s: %s".formatted(number, job, objection.get()));
      }
      jobs.merge(job.name(), 1, Integer::sum);
      // Spark unregisters a shuffle and deletes its files when the driver's garbage collector finds
      // it unreachable. So executors unregister as many shuffles as they register.
      System.gc();
      if (number % JOBS_PER_READING == 0) {
        read();
      }
      printProgress();
    }
    read();
    return new SoakPlan.Result(jobs, counters, null);
  }

  /** Runs one job; a job that fails counts as a wrong answer. */
  private Optional<String> run(SoakJob job, long seed) {
    try {
      return job.run(spark, seed);
    } catch (Exception e) {
      System.err.println("job failed");
      e.printStackTrace();
      return Optional.of("failed: " + e.getMessage());
    }
  }

  /**
   * Reads the counters of the executors with a free core. Not in a barrier stage, which fails when
   * an executor is lost. The next call reads the others.
   */
  private void read() {
    spark.sc().setJobDescription("read counters");
    int tasks = TASKS_PER_READING * plan.executors();
    spark
        .parallelize(IntStream.range(0, tasks).boxed().toList(), tasks)
        .map(ignored -> new ExecutorUsage())
        .collect()
        .forEach(usage -> counters.put(usage.executorId(), usage.counters()));
  }

  /** Called once for each job: the launcher counts these lines. */
  private void printProgress() {
    int total = (int) plan.seconds();
    System.out.println(
        new ProgressLog.Line("random jobs", (int) Math.min(seconds(), total), total, "s"));
  }

  private double seconds() {
    return (System.nanoTime() - startNs) / (double) TimeUnit.SECONDS.toNanos(1);
  }
}
