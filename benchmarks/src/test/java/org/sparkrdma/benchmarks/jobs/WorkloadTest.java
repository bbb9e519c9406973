// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.benchmarks.jobs.ComputedAnswer.Answer;

@Tag("slow")
@Timeout(400)
class WorkloadTest {
  private static JavaSparkContext spark;

  @TempDir private Path directory;

  @BeforeAll
  static void start() {
    spark =
        new JavaSparkContext(
            new SparkConf(false)
                .setMaster("local[2]")
                .setAppName("jobs")
                .set("spark.ui.enabled", "false")
                .set("spark.driver.host", "127.0.0.1")
                .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer"));
  }

  @AfterAll
  static void stop() {
    spark.close();
  }

  @Test
  void shouldGiveAnswersThatDoNotDependOnTheNumberOfPartitions() throws Exception {
    Answer ranks = answer(ShuffleJob.PAGERANK, "500x3x2x3");
    assertThat(ranks.rows()).isBetween(100L, 500L);
    assertThat(answer(ShuffleJob.PAGERANK, "500x3x2x5")).isEqualTo(ranks);
    assertThat(answer(ShuffleJob.PAGERANK, "500x3x3x3")).isNotEqualTo(ranks);

    assertThat(answer(ShuffleJob.GROUPBY, "3x5x3k").rows()).isEqualTo(3 * 5 * 3);
  }

  @Test
  void shouldSortItsOwnInput() throws Exception {
    Workload sort = ShuffleJob.TERASORT.workload("1m");
    spark.hadoopConfiguration().setBoolean("mapreduce.terasort.use.terascheduler", false);
    String data = "file:" + directory;
    sort.prepare(spark, data);
    Answer first = sort.run(spark, data).call().summary();
    assertThat(first.rows()).isEqualTo(10_485);
    assertThat(sort.run(spark, data).call().summary()).isEqualTo(first);
  }

  private Answer answer(ShuffleJob job, String shape) throws Exception {
    return job.workload(shape).run(spark, "").call().summary();
  }
}
