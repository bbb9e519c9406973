// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.workload;

import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Joins two tables in SQL where many rows have the same key. Adaptive execution splits the
 * partition of that key, so that tasks read ranges of map outputs.
 *
 * @param percent percentage of the rows that have the same key
 */
public record SkewJoin(int rows, int keys, int percent, int partitions) implements Workload {
  private static final String QUERY =
      """
      WITH facts AS (
        SELECT IF(id %% 100 < %3$d, 0, id * 7919 %% %2$d) AS key, sha2(CAST(id AS STRING), 256) AS note
        FROM range(0, %1$d, 1, %4$d)),
      names AS (
        SELECT id AS key, sha2(CAST(-id AS STRING), 256) AS name FROM range(0, %2$d, 1, %4$d))
      SELECT facts.key %% 100 AS part, count(*) AS rows,
        sum(crc32(CAST(concat(note, name) AS BINARY))) AS checksum
      FROM facts JOIN names ON facts.key = names.key
      GROUP BY part ORDER BY part
      """;

  /**
   * @param shape such as {@code 2000000x20000x30x64}: rows, keys, percentage of rows with one key,
   *     partitions
   */
  public static SkewJoin parse(String shape) {
    Shape parts = Shape.parse(shape, 4);
    return new SkewJoin(
        parts.count(0, 100, 999_999_999),
        parts.count(1, 100, 999_999_999),
        parts.count(2, 1, 99),
        parts.count(3, 1, 100_000));
  }

  @Override
  public PendingAnswer run(JavaSparkContext spark, String data) {
    SparkSession session = SparkSession.builder().getOrCreate();
    session.sql("SET spark.sql.shuffle.partitions=" + partitions);
    // Low thresholds, so that the partition counts as skewed.
    session.sql("SET spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes=4m");
    session.sql("SET spark.sql.adaptive.advisoryPartitionSizeInBytes=2m");
    List<String> answer =
        session.sql(QUERY.formatted(rows, keys, percent, partitions)).collectAsList().stream()
            .map(Row::toString)
            .toList();
    return () -> ComputedAnswer.ofRows(answer);
  }
}
