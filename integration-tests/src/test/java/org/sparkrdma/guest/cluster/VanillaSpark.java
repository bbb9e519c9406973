/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.guest.cluster;

import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * What vanilla Spark answers to the jobs of the applications, for all clusters to be compared with.
 * Of the host, where that takes seconds and no kernel has to be booted for it.
 */
public final class VanillaSpark {
  private VanillaSpark() {}

  /** Argument: an empty directory, for the answers and for what the TeraSort sorts. */
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
        throw new IllegalStateException("two answers to one question: tera=" + tera);
      }
      Files.writeString(Answers.tera(directory), tera);
      Files.writeString(Answers.blocks(directory), Blocks.shuffle(spark));
    }
  }
}
