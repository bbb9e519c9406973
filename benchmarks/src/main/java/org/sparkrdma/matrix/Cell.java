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
package org.sparkrdma.matrix;

import java.util.ArrayList;
import java.util.List;

/** One combination of Spark and Java. */
record Cell(SparkRelease spark, int java) {
  private static final List<Integer> JAVA_VERSIONS = List.of(17, 21, 25);

  /** Every combination, oldest first, whether it can be run or not. */
  static List<Cell> all() {
    List<Cell> cells = new ArrayList<>();
    for (SparkRelease spark : SparkRelease.all()) {
      for (int java : JAVA_VERSIONS) {
        cells.add(new Cell(spark, java));
      }
    }
    return cells;
  }

  /** As {@code --cells} takes it, such as {@code 3.5.9-2.12-17}. */
  String name() {
    return spark.version() + "-" + spark.scala() + "-" + java;
  }
}
