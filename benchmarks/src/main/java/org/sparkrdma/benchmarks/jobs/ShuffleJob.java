// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.List;
import java.util.Locale;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.MisuseException;

/**
 * The jobs with their default shapes, which were fixed before the first measurement. {@code ./bench
 * list} prints the same without Java.
 */
public enum ShuffleJob {
  /** Blocks of one length. */
  GROUPBY("MAPSxREDUCERSxBLOCK", "256x256x4k,96x96x64k", false),
  /** Records from files into files. */
  TERASORT("SIZE", "1g", true),
  /** Many small records, several iterations. */
  PAGERANK("PAGESxLINKSxITERATIONSxPARTITIONS", "200000x8x5x64", false),
  /** The queries of TPC-H. */
  TPCH("SCALExPARTITIONSxQUERY[+QUERY...]", "1x32xall", true),
  /** The queries of TPC-DS. */
  TPCDS("SCALExPARTITIONSxQUERY[+QUERY...]", "1x32xall", true);

  private final String form;

  /** Separated by commas. */
  private final String shapes;

  private final boolean readsFiles;

  ShuffleJob(String form, String shapes, boolean readsFiles) {
    this.form = form;
    this.shapes = shapes;
    this.readsFiles = readsFiles;
  }

  /** The default shapes. */
  List<String> shapes() {
    return List.of(shapes.split(",", -1));
  }

  /** The shape of the quick start that shuffles this number of bytes. */
  public String shapeOf(DataSize size) {
    return this == GROUPBY ? GroupBy.shapeOfSmallBlocks(size) : size.toOption();
  }

  /** Whether the job needs a directory that every executor reads and writes. */
  public boolean readsFiles() {
    return readsFiles;
  }

  /**
   * The job in one shape.
   *
   * @throws MisuseException in one sentence with the form of a shape
   */
  public Workload workload(String shape) {
    try {
      return switch (this) {
        case GROUPBY -> GroupBy.parse(shape);
        case TERASORT -> TeraSort.parse(shape);
        case PAGERANK -> PageRank.parse(shape);
        case TPCH -> PublishedQueries.parse(QuerySuite.TPCH, shape);
        case TPCDS -> PublishedQueries.parse(QuerySuite.TPCDS, shape);
      };
    } catch (MisuseException e) {
      throw new MisuseException(
          "shape of %s: %s; write it as %s, such as %s"
              .formatted(this, e.getMessage(), form, shapes().get(0)));
    }
  }

  /** The name on the command line. */
  @JsonValue
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
