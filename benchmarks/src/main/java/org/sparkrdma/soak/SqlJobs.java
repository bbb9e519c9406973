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

/** Jobs that count and sum numbers by their remainder. Each returns the error in its answer. */
final class SqlJobs {
  private static final int ROWS_PER_KEY = 40;

  /** Few sizes, because Spark compiles classes for each. */
  private static final List<Long> KEYS = List.of(1_000L, 4_000L, 10_000L);

  private static final int SESSIONS = 16;
  private static final int MIN_BATCHES = 4;
  private static final int MAX_BATCHES = 16;
  private static final long ROWS_PER_BATCH = 40_000;
  private static final int FILES_PER_BATCH = 4;
  private static final int PARTITIONS = 8;

  private SqlJobs() {}

  static SparkSession session(JavaSparkContext spark) {
    return SparkSession.builder().config(spark.getConf()).getOrCreate();
  }

  static Optional<String> aggregate(SparkSession session, SplittableRandom random) {
    long keys = KEYS.get(random.nextInt(KEYS.size()));
    List<Row> rows =
        session
            .range(0, keys * ROWS_PER_KEY, 1, 6)
            .groupBy(col("id").mod(keys).as("key"))
            .agg(count(lit(1)), sum("id"))
            .collectAsList();
    return compare(rows, keys, keys * ROWS_PER_KEY);
  }

  /**
   * @param rows key, count and sum
   * @param numbers the count of all numbers from 0 on
   */
  private static Optional<String> compare(List<Row> rows, long keys, long numbers) {
    long right = rows.stream().filter(row -> isRight(row, keys, numbers)).count();
    return right == keys && rows.size() == keys
        ? Optional.empty()
        : Optional.of("right=%d of=%d expected=%d".formatted(right, rows.size(), keys));
  }

  private static boolean isRight(Row row, long keys, long numbers) {
    long key = row.getLong(0);
    long own = (numbers - key + keys - 1) / keys;
    return row.getLong(1) == own && row.getLong(2) == own * key + keys * own * (own - 1) / 2;
  }

  /** Sessions of one application, each with a query of its own, all at the same time. */
  static Optional<String> aggregateConcurrently(SparkSession session, SplittableRandom random)
      throws InterruptedException, ExecutionException {
    ExecutorService threads = Executors.newFixedThreadPool(SESSIONS);
    try {
      List<Future<Optional<String>>> queries = new ArrayList<>();
      for (int i = 0; i < SESSIONS; i++) {
        SplittableRandom own = random.split();
        queries.add(threads.submit(() -> aggregate(session.newSession(), own)));
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

  /**
   * A query with state. Each micro-batch reads the files of one append, each in a task of its own,
   * and shuffles their numbers to the state of the earlier ones.
   */
  static Optional<String> aggregateStream(SparkSession parent, SplittableRandom random)
      throws IOException, TimeoutException, StreamingQueryException {
    long keys = random.nextLong(1_000, 20_000);
    int batches = random.nextInt(MIN_BATCHES, MAX_BATCHES + 1);
    SparkSession session = parent.newSession();
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
      return compare(totals(session, directory, keys), keys, batches * ROWS_PER_BATCH);
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
}
