// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest.cluster;

import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Computes the results of vanilla Spark for the applications' jobs, with which all clusters are
 * compared. Runs on the host, in seconds and without a kernel.
 */
public final class VanillaSpark {
  private VanillaSpark() {}

  /** Argument: an empty directory for the results and the input of the TeraSort. */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    SparkConf conf =
        new SparkConf()
            .setMaster("local[2]")
            .setAppName("vanilla")
            .set("spark.ui.enabled", "false")
            .set("spark.driver.host", "localhost")
            .set("spark.driver.bindAddress", "127.0.0.1");
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      Path input = Answers.input(directory);
      Tera.generate(spark, input);
      String tera = Tera.sort(spark, input, directory.resolve("sorted"));
      if (!tera.equals(Tera.sort(spark, input, directory.resolve("sorted-again")))) {
        throw new IllegalStateException("two runs returned different results: tera=" + tera);
      }
      Files.writeString(Answers.tera(directory), tera);
      Files.writeString(Answers.blocks(directory), Blocks.shuffle(spark));
    }
  }
}
