// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Input of one application, as JSON.
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
    long orders) {

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

  /**
   * A query with a join, a distinct count and two aggregations, which all shuffle. Rows and their
   * order are the same in every run.
   */
  public static final class CustomerReport {
    private static final int CUSTOMERS = 5_000;

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

    private CustomerReport() {}

    /** The rows as text, in the session of the running application. */
    public static List<String> rows(long orders, int partitions) {
      SparkSession session = SparkSession.builder().getOrCreate();
      // Both tables are shuffled: neither is broadcast.
      session.sql("SET spark.sql.autoBroadcastJoinThreshold=-1");
      session.sql("SET spark.sql.shuffle.partitions=" + partitions);
      String query = QUERY.formatted(orders, CUSTOMERS, partitions);
      return session.sql(query).collectAsList().stream().map(CustomerReport::text).toList();
    }

    private static String text(Row row) {
      return row.mkString("|");
    }
  }
}
