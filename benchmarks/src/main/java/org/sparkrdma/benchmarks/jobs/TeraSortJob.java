// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.benchmarks.jobs.ComputedAnswer.Answer;
import org.sparkrdma.benchmarks.tera.TeraGen;
import org.sparkrdma.benchmarks.tera.TeraSort;
import org.sparkrdma.benchmarks.tera.TeraValidate;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.launch.DataSize;

/** Sorts records of 100 bytes from files into files. */
public record TeraSortJob(DataSize size) implements Workload {
  private static final int RECORD_BYTES = 100;
  private static final long BYTES_PER_PARTITION = 32L << 20;
  private static final int MIN_PARTITIONS = 4;

  /**
   * @param shape such as {@code 1g}: bytes of the input
   */
  public static TeraSortJob parse(String shape) {
    return new TeraSortJob(Workload.Shape.parse(shape, 1).size(0));
  }

  private int partitions() {
    long wanted = (size.bytes() + BYTES_PER_PARTITION - 1) / BYTES_PER_PARTITION;
    return Math.toIntExact(Math.max(MIN_PARTITIONS, wanted));
  }

  @Override
  public void prepare(JavaSparkContext spark, String data) {
    delete(spark, input(data));
    TeraGen.write(spark, input(data), size.bytes() / RECORD_BYTES, partitions());
  }

  /** The answer is the output's digest; output that is not sorted is an error. */
  @Override
  public PendingAnswer run(JavaSparkContext spark, String data) {
    String output = data + "/terasort-output";
    delete(spark, output);
    TeraSort.sort(spark, input(data), output, partitions());
    return new PendingAnswer(() -> answer(spark, data, output));
  }

  private ComputedAnswer answer(JavaSparkContext spark, String data, String output)
      throws LaunchException {
    TeraValidate.Summary summary = TeraValidate.summarize(spark, output);
    if (summary.disorder().isPresent()) {
      throw new LaunchException("the output is not sorted: " + summary.disorder().get());
    }
    TeraValidate.Summary expected = TeraValidate.summarize(spark, input(data));
    Answer answer = new Answer(summary.records(), summary.checksum());
    answer.requireAllOf(new Answer(expected.records(), expected.checksum()));
    delete(spark, output);
    return ComputedAnswer.of(answer);
  }

  private String input(String data) {
    return data + "/terasort-input-" + size.bytes();
  }

  private static void delete(JavaSparkContext spark, String directory) {
    try {
      Path path = new Path(directory);
      path.getFileSystem(spark.hadoopConfiguration()).delete(path, true);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot delete " + directory, e);
    }
  }
}
