// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/** Sessions of one application, each with a query of its own, all at the same time. */
final class ConcurrentSql {
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
