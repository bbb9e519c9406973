// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.sparkrdma.launch.MisuseException;

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
   * @param shape such as {@code 0.1x16xall} or {@code 1x64x5+14a}: scale, partitions, queries
   */
  public static PublishedQueries parse(QuerySuite suite, String shape) {
    Workload.Shape parts = Workload.Shape.parse(shape, 3);
    parts.decimal(0, MAX_SCALE);
    List<String> known = suite.queries();
    List<String> queries =
        parts.text(2).equals(ALL) ? known : List.of(parts.text(2).split("[+]", -1));
    for (String query : queries) {
      if (!known.contains(query)) {
        throw new MisuseException(
            "'%s' in '%s' must be %s or a query from %s to %s"
                .formatted(query, shape, ALL, known.get(0), known.get(known.size() - 1)));
      }
    }
    return new PublishedQueries(suite, parts.text(0), parts.count(1, 1, 100_000), queries);
  }

  /** Writes the tables unless they are there; a directory with this name is complete. */
  @Override
  public void prepare(JavaSparkContext spark, String data) throws IOException {
    Path complete = new Path(tables(data));
    FileSystem files = complete.getFileSystem(spark.hadoopConfiguration());
    if (files.exists(complete)) {
      return;
    }
    Path incomplete = complete.suffix(".incomplete");
    files.delete(incomplete, true);
    for (String table : suite.generator().tables()) {
      write(spark, table, incomplete + "/" + table);
    }
    if (!files.rename(incomplete, complete)) {
      throw new IOException("cannot rename " + incomplete + " to " + complete);
    }
  }

  /** Writes a table as Parquet files, generated on the executors. */
  private void write(JavaSparkContext spark, String table, String directory) {
    QuerySuite ofTable = suite;
    double factor = Double.parseDouble(scale);
    int parts = ofTable.generator().isSmall(table) ? 1 : partitions;
    List<Integer> numbers = IntStream.rangeClosed(1, parts).boxed().toList();
    JavaRDD<String> lines =
        spark
            .parallelize(numbers, parts)
            .flatMap(part -> ofTable.generator().lines(table, factor, part, parts));
    SparkSession session = SparkSession.builder().getOrCreate();
    session
        .read()
        .schema(ofTable.generator().schema(table))
        .option("sep", "|")
        .option("quote", "")
        .csv(session.createDataset(lines.rdd(), Encoders.STRING()))
        .write()
        .parquet(directory);
  }

  @Override
  public PendingAnswer run(JavaSparkContext spark, String data) throws IOException {
    SparkSession session = SparkSession.builder().getOrCreate();
    session.sql("SET spark.sql.shuffle.partitions=" + partitions);
    // Query 90 of TPC-DS divides by a count that is 0 at small scales: null instead of an error.
    session.sql("SET spark.sql.ansi.enabled=false");
    for (String table : suite.generator().tables()) {
      session.read().parquet(tables(data) + "/" + table).createOrReplaceTempView(table);
    }
    List<List<Row>> results = new ArrayList<>();
    Map<String, Double> seconds = new LinkedHashMap<>();
    for (String query : queries) {
      long startNs = System.nanoTime();
      results.add(session.sql(suite.text(query)).collectAsList());
      seconds.put(query, (System.nanoTime() - startNs) / 1e9);
    }
    return new PendingAnswer(() -> answer(results), seconds);
  }

  /** The directory of all tables, as Hadoop names it. */
  private String tables(String data) {
    return data + "/" + suite + "-" + scale + "-" + partitions;
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
}
