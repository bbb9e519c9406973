// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;

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
        .flatMap(name -> twice.contains(name) ? Stream.of(name + "a", name + "b") : Stream.of(name))
        .toList();
  }

  /** Generates the tables. */
  TableGenerator generator() {
    return switch (this) {
      case TPCH -> new TpchTables();
      case TPCDS -> new TpcdsTables();
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
