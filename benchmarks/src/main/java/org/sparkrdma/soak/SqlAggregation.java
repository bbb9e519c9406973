// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.sum;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.apache.spark.sql.streaming.Trigger;
import org.sparkrdma.launch.RunDirectory;

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

  /** Sessions of one application, each with a query of its own, all at the same time. */
  static final class ConcurrentSql {
    private static final int SESSIONS = 16;

    private ConcurrentSql() {}

    static Optional<String> run(JavaSparkContext spark, SplittableRandom random)
        throws InterruptedException, ExecutionException {
      SparkSession session = SparkSession.builder().config(spark.getConf()).getOrCreate();
      ExecutorService threads = Executors.newFixedThreadPool(SESSIONS);
      try {
        List<Future<Optional<String>>> queries = new ArrayList<>();
        for (int i = 0; i < SESSIONS; i++) {
          SplittableRandom own = random.split();
          queries.add(threads.submit(() -> SqlAggregation.run(session.newSession(), own)));
        }
        for (Future<Optional<String>> query : queries) {
          Optional<String> objection = query.get();
          if (objection.isPresent()) {
            return objection;
          }
        }
        return Optional.empty();
      } finally {
        threads.shutdownNow();
      }
    }
  }

  /**
   * Counts and sums numbers by their remainder in a query with state. Each micro-batch reads the
   * files of one append, each in a task of its own, and shuffles their numbers to the state of the
   * earlier ones.
   */
  static final class StreamingAggregation {
    private static final int MIN_BATCHES = 4;
    private static final int MAX_BATCHES = 16;
    private static final long ROWS_PER_BATCH = 40_000;
    private static final int FILES_PER_BATCH = 4;
    private static final int PARTITIONS = 8;

    private StreamingAggregation() {}

    static Optional<String> run(JavaSparkContext spark, SplittableRandom random)
        throws IOException, TimeoutException, StreamingQueryException {
      long keys = random.nextLong(1_000, 20_000);
      int batches = random.nextInt(MIN_BATCHES, MAX_BATCHES + 1);
      SparkSession session =
          SparkSession.builder().config(spark.getConf()).getOrCreate().newSession();
      session.conf().set("spark.sql.shuffle.partitions", PARTITIONS);
      Path directory = Files.createTempDirectory("soak-streaming");
      try {
        for (int batch = 0; batch < batches; batch++) {
          session
              .range(batch * ROWS_PER_BATCH, (batch + 1) * ROWS_PER_BATCH, 1, FILES_PER_BATCH)
              .write()
              .mode("append")
              .parquet(directory.resolve("input").toString());
        }
        return compare(totals(session, directory, keys), keys, batches);
      } finally {
        RunDirectory.deleteTree(directory);
      }
    }

    /** Runs the query to its end. Returns what its last micro-batch writes: key, count and sum. */
    private static List<Row> totals(SparkSession session, Path directory, long keys)
        throws TimeoutException, StreamingQueryException {
      AtomicReference<List<Row>> last = new AtomicReference<>(List.of());
      session
          .readStream()
          .schema("id BIGINT")
          .option("maxFilesPerTrigger", FILES_PER_BATCH)
          .parquet(directory.resolve("input").toString())
          .groupBy(col("id").mod(keys).as("key"))
          .agg(count(lit(1)), sum("id"))
          .writeStream()
          .outputMode("complete")
          .option("checkpointLocation", directory.resolve("checkpoint").toString())
          .trigger(Trigger.AvailableNow())
          .foreachBatch((Dataset<Row> rows, Long batch) -> last.set(rows.collectAsList()))
          .start()
          .awaitTermination();
      return last.get();
    }

    private static Optional<String> compare(List<Row> rows, long keys, int batches) {
      long right = rows.stream().filter(row -> isRight(row, keys, batches)).count();
      return right == keys && rows.size() == keys
          ? Optional.empty()
          : Optional.of("right=%d of=%d expected=%d".formatted(right, rows.size(), keys));
    }

    private static boolean isRight(Row row, long keys, int batches) {
      long key = row.getLong(0);
      long numbers = (batches * ROWS_PER_BATCH - key + keys - 1) / keys;
      long sum = numbers * key + keys * numbers * (numbers - 1) / 2;
      return row.getLong(1) == numbers && row.getLong(2) == sum;
    }
  }
}
