// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.sparkrdma.benchmarks.jobs.TeraSort;
import org.sparkrdma.benchmarks.jobs.TeraValidate;
import org.sparkrdma.launch.MeasuredApplication;
import org.sparkrdma.launch.TaskProgress;

/**
 * The work of one application: one sort and one query, with two executors of one core. Uses only
 * methods with the same signature in all versions of Spark and Scala.
 *
 * @param generate whether the input of the sort has to be written first
 * @param input directory of the records to sort
 * @param output directory of the sorted records
 * @param answer file for the rows of the SQL query, one line each
 * @param records number of records to sort
 * @param partitions number of partitions of the sort and of the query
 * @param orders number of rows of the query's smaller table
 */
public record MatrixPlan(
    boolean generate,
    String input,
    String output,
    String answer,
    long records,
    int partitions,
    long orders)
    implements MeasuredApplication.Plan {
  private static final int CUSTOMERS = 5_000;

  /**
   * A query with a join, a distinct count and two aggregations, which all shuffle. Rows and their
   * order are the same in every run.
   */
  private static final String QUERY =
      """
      WITH orders AS (
        SELECT id AS order_id, id * 7919 %% %2$d AS customer, sha2(CAST(id AS STRING), 256) AS note
        FROM range(0, %1$d, 1, %3$d)),
      items AS (
        SELECT id * 31 %% %1$d AS order_id, id %% 97 AS quantity,
          sha2(CAST(-id AS STRING), 256) AS label
        FROM range(0, 2 * %1$d, 1, %3$d))
      SELECT customer, count(*) AS items, count(DISTINCT o.order_id) AS orders,
        sum(quantity) AS quantity, min(note) AS first_note, max(label) AS last_label,
        sum(crc32(CAST(concat(note, label) AS BINARY))) AS checksum
      FROM orders o JOIN items i ON o.order_id = i.order_id
      GROUP BY customer ORDER BY customer
      """;

  /**
   * Result of one application, as JSON.
   *
   * @param sparkVersion version that Spark reports
   * @param javaVersion of the driver
   * @param records number of sorted records
   * @param checksum of the sorted records
   * @param inputChecksum of the records before the sort
   * @param sorted whether the output is in order
   */
  public record Result(
      String sparkVersion,
      String javaVersion,
      long records,
      String checksum,
      String inputChecksum,
      boolean sorted) {}

  @Override
  public Result measure() throws IOException {
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("matrix"))) {
      // The scheduler of the input format is for clusters with data on their disks.
      spark.hadoopConfiguration().setBoolean("mapreduce.terasort.use.terascheduler", false);
      spark.sc().addSparkListener(new TaskProgress(System.out::println));
      if (generate) {
        spark.sc().setJobDescription("generate");
        TeraSort.write(spark, input, records, partitions);
      }
      spark.sc().setJobDescription("sort");
      TeraSort.sort(spark, input, output, partitions);
      spark.sc().setJobDescription("query");
      Files.write(Path.of(answer), rows());
      spark.sc().setJobDescription("validate");
      TeraValidate.Summary before = TeraValidate.summarize(spark, input);
      TeraValidate.Summary after = TeraValidate.summarize(spark, output);
      return new Result(
          spark.version(),
          System.getProperty("java.version"),
          after.records(),
          after.checksum(),
          before.checksum(),
          after.disorder().isEmpty());
    }
  }

  /** The rows of the query as text, in the session of the running application. */
  private List<String> rows() {
    SparkSession session = SparkSession.builder().getOrCreate();
    // Both tables are shuffled: neither is broadcast.
    session.sql("SET spark.sql.autoBroadcastJoinThreshold=-1");
    session.sql("SET spark.sql.shuffle.partitions=" + partitions);
    String query = QUERY.formatted(orders, CUSTOMERS, partitions);
    return session.sql(query).collectAsList().stream().map(row -> row.mkString("|")).toList();
  }
}
