// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.links;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/** The version of Spark, from a file in its jars: a class of Spark may be missing. Stateless. */
public final class SparkVersion {
  private static final String FILE = "spark-version-info.properties";

  private SparkVersion() {}

  /** As in {@code Spark 4.2.0}; without the number where it cannot be read. */
  public static String of(ClassLoader spark) {
    Properties properties = new Properties();
    try (InputStream file = spark.getResourceAsStream(FILE)) {
      if (file != null) {
        properties.load(file);
      }
    } catch (IOException | IllegalArgumentException e) {
      properties.clear();
    }
    return ("Spark " + properties.getProperty("version", "of an unknown version")).trim();
  }
}
