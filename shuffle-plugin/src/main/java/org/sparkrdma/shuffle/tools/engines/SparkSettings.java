// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import org.sparkrdma.shuffle.settings.ValueType;

/**
 * Settings of Spark, all of them as text.
 *
 * @param values by key
 * @param given whether the user has given settings, perhaps an empty file
 */
public record SparkSettings(Map<String, String> values, boolean given) {
  /** The key of the shuffle manager. */
  public static final String MANAGER = "spark.shuffle.manager";

  /** Its value for this plug-in. */
  public static final String PLUG_IN = "org.sparkrdma.shuffle.RdmaShuffleManager";

  /** The name of SparkRDMA's manager, which selects this plug-in too. */
  private static final String FORMER_PLUG_IN = "org.apache.spark.shuffle.rdma.RdmaShuffleManager";

  /** Keeps a copy. */
  public SparkSettings {
    values = Map.copyOf(values);
  }

  /** Settings that come from no file. */
  public SparkSettings(Map<String, String> values) {
    this(values, !values.isEmpty());
  }

  /**
   * Reads a file as Spark does, and what spark-submit hands on as system properties. Spark ignores
   * keys that do not begin with {@code spark.}, and replaces bytes that are not UTF-8.
   *
   * @param file may be null for none
   * @throws IOException when the file cannot be read
   */
  public static SparkSettings read(Path file, Properties system) throws IOException {
    Properties properties = new Properties();
    if (file != null) {
      try {
        properties.load(
            new StringReader(new String(Files.readAllBytes(file), StandardCharsets.UTF_8)));
      } catch (IllegalArgumentException e) {
        throw new IOException(e.getMessage(), e);
      }
    }
    properties.putAll(system);
    Map<String, String> values = new TreeMap<>();
    for (String key : properties.stringPropertyNames()) {
      if (key.startsWith("spark.")) {
        values.put(key, properties.getProperty(key).trim());
      }
    }
    return new SparkSettings(values, file != null || !values.isEmpty());
  }

  /** The value of a key, or what Spark takes where it is not set. */
  public String value(String key, String defaultValue) {
    return values.getOrDefault(key, defaultValue);
  }

  /** Whether a key that is false by default is true. */
  public boolean isTrue(String key) {
    return ValueType.isTrue(values.get(key));
  }

  /** Whether these settings make Spark load neither this plug-in nor its shuffle manager. */
  public boolean isManagerMissing() {
    return !isUnknown()
        && !value("spark.plugins", "").contains("org.sparkrdma.shuffle.RdmaPlugin")
        && !Set.of(PLUG_IN, FORMER_PLUG_IN).contains(value(MANAGER, "sort"));
  }

  /** Whether the user has given no settings at all; an empty file is given. */
  public boolean isUnknown() {
    return !given;
  }
}
