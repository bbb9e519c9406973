// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import org.sparkrdma.launch.DataSize;

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
  TPCH("SCALExPARTITIONSxQUERY", "1x32xall", true),
  /** The queries of TPC-DS. */
  TPCDS("SCALExPARTITIONSxQUERY", "1x32xall", true);

  private final String form;

  /** Separated by commas. */
  private final String shapes;

  private final boolean readsFiles;

  ShuffleJob(String form, String shapes, boolean readsFiles) {
    this.form = form;
    this.shapes = shapes;
    this.readsFiles = readsFiles;
  }

  /** All names, for messages. */
  public static String names() {
    return Arrays.stream(values()).map(ShuffleJob::toString).collect(Collectors.joining(", "));
  }

  /** The job of this name, if there is one. */
  public static Optional<ShuffleJob> named(String name) {
    return Arrays.stream(values()).filter(job -> job.toString().equals(name)).findFirst();
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
   * @throws IllegalArgumentException in one sentence with the form of a shape
   */
  public Workload workload(String shape) {
    try {
      return switch (this) {
        case GROUPBY -> GroupBy.parse(shape);
        case TERASORT -> TeraSortJob.parse(shape);
        case PAGERANK -> PageRank.parse(shape);
        case TPCH -> PublishedQueries.parse(PublishedQueries.QuerySuite.TPCH, shape);
        case TPCDS -> PublishedQueries.parse(PublishedQueries.QuerySuite.TPCDS, shape);
      };
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "shape of %s: %s; write it as %s, such as %s"
              .formatted(this, e.getMessage(), form, shapes().get(0)),
          e);
    }
  }

  /** The name on the command line. */
  @JsonValue
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
