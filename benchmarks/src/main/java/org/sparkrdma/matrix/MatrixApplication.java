// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.benchmarks.tera.TaskProgress;
import org.sparkrdma.benchmarks.tera.TeraGen;
import org.sparkrdma.benchmarks.tera.TeraSort;
import org.sparkrdma.benchmarks.tera.TeraValidate;

/** The application to submit: one sort and one query, with two executors of one core. */
public final class MatrixApplication {
  private MatrixApplication() {}

  /**
   * Reads a {@link MatrixPlan} from the first file and writes a {@link MatrixPlan.Result} to the
   * second.
   */
  public static void main(String[] files) throws Exception {
    ObjectMapper json = new ObjectMapper();
    MatrixPlan plan = json.readValue(new File(files[0]), MatrixPlan.class);
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("matrix"))) {
      json.writeValue(new File(files[1]), run(spark, plan));
    }
  }

  private static MatrixPlan.Result run(JavaSparkContext spark, MatrixPlan plan) throws Exception {
    // The scheduler of the input format is for clusters with data on their disks.
    spark.hadoopConfiguration().setBoolean("mapreduce.terasort.use.terascheduler", false);
    spark.sc().addSparkListener(new TaskProgress(System.out));

    if (plan.generate()) {
      spark.sc().setJobDescription("generate");
      TeraGen.write(spark, plan.input(), plan.records(), plan.partitions());
    }
    spark.sc().setJobDescription("sort");
    TeraSort.sort(spark, plan.input(), plan.output(), plan.partitions());
    spark.sc().setJobDescription("query");
    writeAnswer(plan);
    spark.sc().setJobDescription("validate");
    TeraValidate.Summary input = TeraValidate.summarize(spark, plan.input());
    TeraValidate.Summary output = TeraValidate.summarize(spark, plan.output());

    return new MatrixPlan.Result(
        spark.version(),
        System.getProperty("java.version"),
        output.records(),
        output.checksum(),
        input.checksum(),
        output.disorder().isEmpty());
  }

  private static void writeAnswer(MatrixPlan plan) throws IOException {
    Files.write(
        Path.of(plan.answer()), MatrixPlan.CustomerReport.rows(plan.orders(), plan.partitions()));
  }
}
