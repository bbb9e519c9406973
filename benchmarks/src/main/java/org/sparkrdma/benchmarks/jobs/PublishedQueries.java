// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Queries of TPC-H or TPC-DS over their tables. The results are not results of these benchmarks:
 * neither their rules nor their metrics are followed.
 *
 * @param scale scale factor; 1 is about 1 GB of text
 * @param partitions of the large tables' files and of each shuffle
 * @param queries names of the queries
 */
public record PublishedQueries(QuerySuite suite, String scale, int partitions, List<String> queries)
    implements Workload {
  private static final String ALL = "all";
  private static final double MAX_SCALE = 10_000;

  /** Sums of floating-point numbers depend on the order of the rows in their last digits. */
  private static final MathContext DIGITS = new MathContext(9);

  /**
   * @param shape such as {@code 0.1x16xall} or {@code 1x64x5}: scale, partitions, name of a query
   */
  public static PublishedQueries parse(QuerySuite suite, String shape) {
    Workload.Shape parts = Workload.Shape.parse(shape, 3);
    parts.decimal(0, MAX_SCALE);
    String query = parts.text(2);
    List<String> known = suite.queries();
    if (!query.equals(ALL) && !known.contains(query)) {
      throw new IllegalArgumentException(
          "'%s' in '%s' must be %s or a query from %s to %s"
              .formatted(query, shape, ALL, known.get(0), known.get(known.size() - 1)));
    }
    List<String> queries = query.equals(ALL) ? known : List.of(query);
    return new PublishedQueries(suite, parts.text(0), parts.count(1, 1, 100_000), queries);
  }

  @Override
  public void prepare(JavaSparkContext spark, String data) {
    tables(data).write(spark, Double.parseDouble(scale), partitions);
  }

  @Override
  public PendingAnswer run(JavaSparkContext spark, String data) {
    SparkSession session = SparkSession.builder().getOrCreate();
    session.sql("SET spark.sql.shuffle.partitions=" + partitions);
    // Query 90 of TPC-DS divides by a count that is 0 at small scales: null instead of an error.
    session.sql("SET spark.sql.ansi.enabled=false");
    tables(data).register(session);
    List<List<Row>> results = new ArrayList<>();
    Map<String, Double> seconds = new LinkedHashMap<>();
    for (String query : queries) {
      long startNs = System.nanoTime();
      results.add(session.sql(suite.text(query)).collectAsList());
      seconds.put(query, (System.nanoTime() - startNs) / 1e9);
    }
    return new PendingAnswer(() -> answer(results), seconds);
  }

  private TableFiles tables(String data) {
    return new TableFiles(suite, data + "/" + suite + "-" + scale + "-" + partitions);
  }

  /** Rows that are equal in a query's order may change their places, so they are sorted. */
  private ComputedAnswer answer(List<List<Row>> results) {
    List<String> rows = new ArrayList<>();
    for (int i = 0; i < results.size(); i++) {
      String query = queries.get(i);
      results.get(i).stream().map(row -> query + "|" + text(row)).sorted().forEach(rows::add);
    }
    return ComputedAnswer.ofRows(rows);
  }

  private static String text(Row row) {
    return IntStream.range(0, row.size())
        .mapToObj(i -> value(row.get(i)))
        .collect(Collectors.joining(","));
  }

  private static String value(Object value) {
    return value instanceof Double number && Double.isFinite(number)
        ? new BigDecimal(number).round(DIGITS).stripTrailingZeros().toString()
        : String.valueOf(value);
  }

  /** Tables and queries of a published benchmark, the queries as Spark's own tests have them. */
  public enum QuerySuite {
    /** 22 queries over 8 tables. */
    TPCH(22, ""),

    /** 103 queries over 24 tables: the 99, four of them in two parts. */
    TPCDS(99, "14 23 24 39");

    private final int count;

    /** Numbers of queries that have two parts, separated by blanks. */
    private final String inTwoParts;

    QuerySuite(int count, String inTwoParts) {
      this.count = count;
      this.inTwoParts = inTwoParts;
    }

    /** Names of the queries in their order, such as {@code 5} or {@code 14a}. */
    public List<String> queries() {
      List<String> twice = List.of(inTwoParts.split(" ", -1));
      return IntStream.rangeClosed(1, count)
          .mapToObj(Integer::toString)
          .flatMap(
              name -> twice.contains(name) ? Stream.of(name + "a", name + "b") : Stream.of(name))
          .toList();
    }

    /** Generates the tables. */
    TableFiles.TableGenerator generator() {
      return switch (this) {
        case TPCH -> new TableFiles.TpchTables();
        case TPCDS -> new TableFiles.TpcdsTables();
      };
    }

    /** The build takes them from the jar of Spark SQL's tests. */
    public String text(String query) {
      String name = "query/" + this + "/q" + query + ".sql";
      try (InputStream in = QuerySuite.class.getResourceAsStream(name)) {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
      } catch (IOException e) {
        throw new UncheckedIOException("cannot read " + name, e);
      }
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
