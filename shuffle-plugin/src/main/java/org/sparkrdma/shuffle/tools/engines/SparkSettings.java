// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;

/**
 * Settings of Spark, all of them as text.
 *
 * @param values by key
 */
public record SparkSettings(Map<String, String> values) {
  /** The key of the shuffle manager. */
  public static final String MANAGER = "spark.shuffle.manager";

  /** Its value for this plug-in. */
  public static final String PLUG_IN = "org.sparkrdma.shuffle.RdmaShuffleManager";

  private static final String PREFIX = "spark.";

  /** The name of SparkRDMA's manager, which selects this plug-in too. */
  private static final String FORMER_PLUG_IN = "org.apache.spark.shuffle.rdma.RdmaShuffleManager";

  /** Keeps a copy. */
  public SparkSettings {
    values = Map.copyOf(values);
  }

  /**
   * Reads a file as Spark does, and what spark-submit hands on as system properties.
   *
   * @param file may be null for none
   * @throws IOException when the file cannot be read
   */
  public static SparkSettings read(Path file, Properties system) throws IOException {
    Map<String, String> values = new TreeMap<>();
    if (file != null) {
      Properties ofFile = new Properties();
      try (Reader reader = Files.newBufferedReader(file)) {
        ofFile.load(reader);
      }
      addTo(values, ofFile);
    }
    addTo(values, system);
    return new SparkSettings(values);
  }

  private static void addTo(Map<String, String> values, Properties properties) {
    for (String key : properties.stringPropertyNames()) {
      if (key.startsWith(PREFIX)) {
        values.put(key, properties.getProperty(key).trim());
      }
    }
  }

  /** The value of a key, or what Spark takes where it is not set. */
  public String value(String key, String defaultValue) {
    return values.getOrDefault(key, defaultValue);
  }

  /** Whether a key that is false by default is true. */
  public boolean isTrue(String key) {
    return Boolean.parseBoolean(value(key, "false"));
  }

  /** Whether these settings make Spark load another shuffle manager than this plug-in's. */
  public boolean isManagerMissing() {
    return !isEmpty() && !Set.of(PLUG_IN, FORMER_PLUG_IN).contains(value(MANAGER, "sort"));
  }

  /** Whether nothing is set. */
  public boolean isEmpty() {
    return values.isEmpty();
  }
}
