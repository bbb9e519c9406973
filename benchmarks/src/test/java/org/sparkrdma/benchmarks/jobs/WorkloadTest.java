// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
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
                .set("spark.sql.autoBroadcastJoinThreshold", "-1")
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

  /**
   * At every scale query 1 has four rows and query 6 one. Every day QuerySuiteTest finds wrong
   * queries, and the other tests wrong answers of jobs.
   */
  @Test
  @Tag("nightly")
  void shouldAnswerQueriesOfTpchOverTablesThatAreWrittenOnce() throws Exception {
    String data = "file:" + directory;
    ShuffleJob.TPCH.workload("0.001x2xall").prepare(spark, data);
    Path marker = Files.createFile(directory.resolve("tpch-0.001-2/written-by-the-first"));
    ShuffleJob.TPCH.workload("0.001x2x1").prepare(spark, data);
    assertThat(marker).exists();

    Answer first = query("0.001x2x1", data);

    assertThat(first.rows()).isEqualTo(4);
    assertThat(query("0.001x2x1", data)).isEqualTo(first);
    assertThat(query("0.001x2x6", data).rows()).isEqualTo(1);
  }

  @Test
  @Tag("nightly")
  void shouldAnswerQueriesOfTpcds() throws Exception {
    String data = "file:" + directory;
    Workload count = ShuffleJob.TPCDS.workload("0.01x2x96");
    count.prepare(spark, data);
    assertThat(count.run(spark, data).call().summary().rows()).isEqualTo(1);
    assertThat(rows("store_sales")).isEqualTo(120_527);
    assertThat(rows("date_dim")).isEqualTo(73_049);

    Workload brands = ShuffleJob.TPCDS.workload("0.01x2x3");
    Workload ratio = ShuffleJob.TPCDS.workload("0.01x2x90");
    assertThat(ratio.run(spark, data).call().rows()).containsExactly("90|null");
    ComputedAnswer first = brands.run(spark, data).call();
    assertThat(first.rows()).isNotEmpty().allSatisfy(row -> assertThat(row).startsWith("3|"));
    assertThat(brands.run(spark, data).call()).isEqualTo(first);
  }

  private static Answer query(String shape, String data) throws Exception {
    return ShuffleJob.TPCH.workload(shape).run(spark, data).call().summary();
  }

  private static long rows(String table) {
    return SparkSession.builder().sparkContext(spark.sc()).getOrCreate().table(table).count();
  }

  private Answer answer(ShuffleJob job, String shape) throws Exception {
    return computed(job, shape).summary();
  }

  private static ComputedAnswer computed(ShuffleJob job, String shape) throws Exception {
    return job.workload(shape).run(spark, "").call();
  }
}
