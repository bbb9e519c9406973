// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.plan;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.benchmarks.jobs.workload.BenchmarkException;
import org.sparkrdma.benchmarks.jobs.workload.ComputedAnswer;
import org.sparkrdma.benchmarks.jobs.workload.PendingAnswer;
import org.sparkrdma.benchmarks.jobs.workload.Workload;

/**
 * The same job several times at once in one application. Each has a pool of the scheduler of its
 * own, so that with {@code spark.scheduler.mode=FAIR} their tasks take turns.
 *
 * @param count number of jobs, at least 2
 */
public record ConcurrentRuns(Workload job, int count) implements Workload {
  private static final String POOL = "spark.scheduler.pool";

  @Override
  public String description() {
    return job.description() + ", %d jobs at once".formatted(count);
  }

  @Override
  public long diskBytes() {
    return count * job.diskBytes();
  }

  @Override
  public int tasks() {
    return count * job.tasks();
  }

  @Override
  public void prepare(JavaSparkContext spark, String data) {
    job.prepare(spark, data);
  }

  /** Returns when all jobs have ended. */
  @Override
  public PendingAnswer run(JavaSparkContext spark, String data) {
    ExecutorService threads = Executors.newFixedThreadPool(count);
    try {
      List<Future<PendingAnswer>> running = new ArrayList<>();
      for (int i = 1; i <= count; i++) {
        String pool = "job-" + i;
        running.add(
            threads.submit(
                () -> {
                  spark.setLocalProperty(POOL, pool);
                  return job.run(spark, data);
                }));
      }
      List<PendingAnswer> answers = new ArrayList<>();
      for (Future<PendingAnswer> each : running) {
        answers.add(each.get());
      }
      return () -> same(answers);
    } catch (ExecutionException e) {
      throw new IllegalStateException("one of the jobs failed", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    } finally {
      threads.shutdownNow();
    }
  }

  private static ComputedAnswer same(List<PendingAnswer> answers) throws Exception {
    ComputedAnswer first = answers.get(0).call();
    for (PendingAnswer answer : answers) {
      String difference = answer.call().difference(first).orElse(null);
      if (difference != null) {
        throw new BenchmarkException("jobs at once have different answers: " + difference);
      }
    }
    return first;
  }
}
