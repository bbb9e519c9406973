// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.benchmarks.jobs.workload.Answer;
import org.sparkrdma.benchmarks.jobs.workload.BenchmarkException;
import org.sparkrdma.benchmarks.jobs.workload.ComputedAnswer;
import org.sparkrdma.benchmarks.jobs.workload.PendingAnswer;
import org.sparkrdma.benchmarks.jobs.workload.Workload;

@Timeout(120)
class ConcurrentRunsTest {
  private final CyclicBarrier together = new CyclicBarrier(3);
  private final Set<String> pools = ConcurrentHashMap.newKeySet();
  private final AtomicInteger number = new AtomicInteger();
  private boolean equal = true;

  /** Ends only when three run at once. */
  private final class Waiting implements Workload {
    @Override
    public String description() {
      return "a job";
    }

    @Override
    public long diskBytes() {
      return 10;
    }

    @Override
    public int tasks() {
      return 4;
    }

    @Override
    public PendingAnswer run(JavaSparkContext spark, String data) {
      pools.add(spark.getLocalProperty("spark.scheduler.pool"));
      int mine = number.incrementAndGet();
      try {
        together.await();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
      return () -> ComputedAnswer.of(new Answer(1, equal ? "a" : Integer.toString(mine)));
    }
  }

  @Test
  void shouldRunAllAtOnceInPoolsOfTheirOwn() throws Exception {
    Workload runs = new ConcurrentRuns(new Waiting(), 3);
    assertThat(runs.description()).isEqualTo("a job, 3 jobs at once");
    assertThat(runs.diskBytes()).isEqualTo(30);
    assertThat(runs.tasks()).isEqualTo(12);
    SparkConf conf =
        new SparkConf(false)
            .setMaster("local[1]")
            .setAppName("at once")
            .set("spark.ui.enabled", "false")
            .set("spark.driver.host", "127.0.0.1");
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      assertThat(runs.run(spark, "").call().summary()).isEqualTo(new Answer(1, "a"));
      assertThat(pools).containsExactlyInAnyOrder("job-1", "job-2", "job-3");

      equal = false;
      PendingAnswer different = runs.run(spark, "");
      assertThatThrownBy(different::call)
          .isInstanceOf(BenchmarkException.class)
          .hasMessageContaining("jobs at once have different answers");
    }
  }
}
