// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Settings of Spark, all of them as text.
 *
 * @param values by key
 * @param file that the user named; empty where there is none, as in an executor
 */
public record SparkSettings(Map<String, String> values, Optional<SettingsFile> file) {
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
    this(values, Optional.empty());
  }

  /**
   * Reads a file as Spark does, and what spark-submit hands on as system properties.
   *
   * @param file may be null for none
   * @throws IOException when the file cannot be read
   */
  public static SparkSettings read(Path file, Properties system) throws IOException {
    Map<String, String> values = new TreeMap<>();
    Optional<SettingsFile> read =
        file == null ? Optional.empty() : Optional.of(SettingsFile.read(file));
    read.ifPresent(present -> values.putAll(present.values()));
    for (String key : system.stringPropertyNames()) {
      values.put(key, system.getProperty(key).trim());
    }
    values.keySet().removeIf(key -> !key.startsWith(SettingsFile.PREFIX));
    return new SparkSettings(values, read);
  }

  /**
   * Every key that the user may have set, also those of the file that Spark ignores; not one with a
   * byte order mark, of which the file has a remark.
   */
  public Set<String> allKeys() {
    Set<String> keys = new TreeSet<>(values.keySet());
    file.ifPresent(present -> keys.addAll(present.foreignKeys()));
    return keys;
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
    return !isUnknown() && !Set.of(PLUG_IN, FORMER_PLUG_IN).contains(value(MANAGER, "sort"));
  }

  /** Whether the user has given no settings at all; an empty file is given. */
  public boolean isUnknown() {
    return values.isEmpty() && file.isEmpty();
  }
}
