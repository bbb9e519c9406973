// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Queries of TPC-H, as Spark's own tests have them, over its tables. The results are not TPC-H
 * results: neither the rules of that benchmark nor its metric are followed.
 *
 * @param scale scale factor; 1 is about 1 GB of text
 * @param partitions of the tables' files and of each shuffle
 * @param queries numbers from 1 to 22
 */
record Tpch(String scale, int partitions, List<Integer> queries) implements Workload {
  private static final int QUERIES = 22;
  private static final String ALL = "all";
  private static final double MAX_SCALE = 10_000;

  /** Shuffle files of all queries at scale 1, and the tables. */
  private static final long DISK_BYTES = 8L << 30;

  /**
   * @param shape such as {@code 0.1x16xall} or {@code 1x64x5}: scale, partitions, number of a query
   */
  static Tpch parse(String shape) {
    Shape parts = Shape.parse(shape, 3);
    parts.decimal(0, MAX_SCALE);
    List<Integer> queries =
        parts.text(2).equals(ALL)
            ? IntStream.rangeClosed(1, QUERIES).boxed().toList()
            : List.of(parts.count(2, 1, QUERIES));
    return new Tpch(parts.text(0), parts.count(1, 1, 100_000), queries);
  }

  @Override
  public String description() {
    String which = queries.size() == 1 ? "query " + queries.get(0) : queries.size() + " queries";
    return String.format(
        Locale.ROOT, "%s at scale %s, in %,d partitions", which, scale, partitions);
  }

  @Override
  public long diskBytes() {
    return (long) (DISK_BYTES * Double.parseDouble(scale));
  }

  @Override
  public int tasks() {
    return 2 * partitions;
  }

  @Override
  public void prepare(JavaSparkContext spark, String data) {
    tables(data).write(spark, Double.parseDouble(scale), partitions);
  }

  @Override
  public Callable<Answer> run(JavaSparkContext spark, String data) {
    SparkSession session = SparkSession.builder().getOrCreate();
    session.sql("SET spark.sql.shuffle.partitions=" + partitions);
    tables(data).register(session);
    List<List<Row>> results =
        queries.stream().map(query -> session.sql(text(query)).collectAsList()).toList();
    return () -> answer(results);
  }

  private TpchData tables(String data) {
    return new TpchData(data + "/tpch-" + scale + "-" + partitions);
  }

  /** Rows that are equal in a query's order may change their places, so they are sorted. */
  private Answer answer(List<List<Row>> results) {
    List<String> rows = new ArrayList<>();
    for (int i = 0; i < results.size(); i++) {
      int query = queries.get(i);
      results.get(i).stream().map(row -> query + "|" + row).sorted().forEach(rows::add);
    }
    return Answer.ofRows(rows);
  }

  /** The build takes them from the jar of Spark SQL's tests. */
  private static String text(int query) {
    String name = "tpch/q" + query + ".sql";
    try (InputStream in = Tpch.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + name, e);
    }
  }
}
