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
package org.sparkrdma.benchmarks.tera;

import java.util.stream.IntStream;
import org.apache.hadoop.examples.terasort.TeraOutputFormat;
import org.apache.hadoop.io.Text;
import org.apache.spark.api.java.JavaSparkContext;

/** Writes the input of the sort: {@code records} records in {@code files} files of equal length. */
public final class TeraGen {
  private TeraGen() {}

  /** Returns when the files are written. */
  public static void write(JavaSparkContext spark, String directory, long records, int files) {
    spark
        .parallelize(IntStream.range(0, files).boxed().toList(), files)
        .mapPartitionsToPair(
            numbers -> {
              int file = numbers.next();
              return new TeraRecords(
                  firstRow(file, records, files), firstRow(file + 1, records, files));
            })
        .saveAsNewAPIHadoopFile(
            directory, Text.class, Text.class, TeraOutputFormat.class, spark.hadoopConfiguration());
  }

  private static long firstRow(int file, long records, int files) {
    return records / files * file + Math.min(file, records % files);
  }
}
