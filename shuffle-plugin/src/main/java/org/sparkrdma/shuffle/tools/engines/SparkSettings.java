// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Settings of Spark, all of them as text.
 *
 * @param values by key
 * @param foreignKeys those of a file that Spark ignores, because they do not begin with spark.
 * @param given whether the user has given settings, perhaps an empty file
 */
public record SparkSettings(Map<String, String> values, Set<String> foreignKeys, boolean given) {
  /** Begins every key that Spark does not ignore. */
  private static final String PREFIX = "spark.";

  private static final int MAX_BYTES = 16 << 20;

  /** The key of the shuffle manager. */
  public static final String MANAGER = "spark.shuffle.manager";

  /** Its value for this plug-in. */
  public static final String PLUG_IN = "org.sparkrdma.shuffle.RdmaShuffleManager";

  /** The name of SparkRDMA's manager, which selects this plug-in too. */
  private static final String FORMER_PLUG_IN = "org.apache.spark.shuffle.rdma.RdmaShuffleManager";

  /** Keeps a copy. */
  public SparkSettings {
    values = Map.copyOf(values);
    foreignKeys = Set.copyOf(foreignKeys);
  }

  /** Settings that come from no file. */
  public SparkSettings(Map<String, String> values) {
    this(values, Set.of(), !values.isEmpty());
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
      addAll(values, load(file));
    }
    addAll(values, system);
    Set<String> foreign = new TreeSet<>(values.keySet());
    foreign.removeIf(key -> key.startsWith(PREFIX) || (file == null || system.containsKey(key)));
    values.keySet().removeIf(key -> !key.startsWith(PREFIX));
    return new SparkSettings(values, foreign, file != null || !values.isEmpty());
  }

  private static void addAll(Map<String, String> values, Properties properties) {
    for (String key : properties.stringPropertyNames()) {
      values.put(key, properties.getProperty(key).trim());
    }
  }

  /** Bytes that are not UTF-8 are replaced, as Spark does. */
  private static Properties load(Path file) throws IOException {
    if (!isAllowed(file)) {
      throw new IOException("it is neither a regular file nor /dev/stdin or /dev/fd/NUMBER");
    }
    try (InputStream input = Files.newInputStream(file)) {
      byte[] bytes = input.readNBytes(MAX_BYTES + 1);
      if (bytes.length > MAX_BYTES) {
        throw new IOException(
            "it has more than " + (MAX_BYTES >> 20) + " MiB, so it is no file of settings");
      }
      Properties properties = new Properties();
      properties.load(new StringReader(new String(bytes, StandardCharsets.UTF_8)));
      return properties;
    } catch (IllegalArgumentException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  /**
   * False for a named pipe, a socket or a device, where a read may never end, but for the files
   * that this process was given.
   */
  private static boolean isAllowed(Path file) {
    Path path = file.toAbsolutePath().normalize();
    return path.equals(Path.of("/dev/stdin"))
        || path.startsWith("/dev/fd")
        || path.startsWith("/proc/self/fd")
        || Files.isRegularFile(path)
        || Files.isDirectory(path)
        || Files.notExists(path);
  }

  /** Every key that the user may have set, also those of the file that Spark ignores. */
  public Set<String> allKeys() {
    Set<String> keys = new TreeSet<>(values.keySet());
    keys.addAll(foreignKeys);
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
    return !given;
  }
}
