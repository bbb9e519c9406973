// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.sum;

import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Counts and sums numbers by their remainder. Uses few sizes, because Spark compiles classes for
 * each.
 */
final class SqlAggregation {
  private static final int ROWS_PER_KEY = 40;
  private static final List<Long> KEYS = List.of(1_000L, 4_000L, 10_000L);

  private SqlAggregation() {}

  static Optional<String> run(JavaSparkContext spark, SplittableRandom random) {
    return run(SparkSession.builder().config(spark.getConf()).getOrCreate(), random);
  }

  static Optional<String> run(SparkSession session, SplittableRandom random) {
    long keys = KEYS.get(random.nextInt(KEYS.size()));
    List<Row> rows =
        session
            .range(0, keys * ROWS_PER_KEY, 1, 6)
            .groupBy(col("id").mod(keys).as("key"))
            .agg(count(lit(1)), sum("id"))
            .collectAsList();
    long perfect = rows.stream().filter(row -> isRight(row, keys)).count();
    return perfect == keys && rows.size() == keys
        ? Optional.empty()
        : Optional.of("right=%d of=%d expected=%d".formatted(perfect, rows.size(), keys));
  }

  private static boolean isRight(Row row, long keys) {
    long sum = ROWS_PER_KEY * row.getLong(0) + keys * ROWS_PER_KEY * (ROWS_PER_KEY - 1) / 2;
    return row.getLong(1) == ROWS_PER_KEY && row.getLong(2) == sum;
  }
}
