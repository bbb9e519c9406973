// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import java.util.List;

/**
 * A version of Spark that the plug-in is run on.
 *
 * @param version such as 3.5.9
 * @param scala its Scala version, such as 2.12
 * @param supportedJava the Java versions from 17 on that Spark's own documentation names
 * @param byPlugin whether the cells of this version set only {@code spark.plugins}, and take the
 *     jar from {@code --jars}; the others set the shuffle manager and the class path of all JVMs
 */
record SparkRelease(String version, String scala, List<Integer> supportedJava, boolean byPlugin) {
  private static final List<SparkRelease> ALL =
      List.of(
          new SparkRelease("3.5.9", "2.12", List.of(17), true),
          new SparkRelease("3.5.9", "2.13", List.of(17), false),
          new SparkRelease("4.0.2", "2.13", List.of(17, 21), true),
          new SparkRelease("4.1.3", "2.13", List.of(17, 21), true),
          new SparkRelease("4.2.0", "2.13", List.of(17, 21, 25), true));

  /** Oldest first. */
  static List<SparkRelease> all() {
    return ALL;
  }

  @Override
  public String toString() {
    return "Spark " + version + " for Scala " + scala;
  }
}
