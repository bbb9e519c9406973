// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.spi;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The values that the user set for settings of engines, by key. Immutable.
 *
 * <p>Keys begin with the name of the engine ({@code soft.latency}), so that one object serves all
 * engines.
 */
public final class EngineSettings {
  private static final EngineSettings NONE = new EngineSettings(Map.of(), "");

  private final Map<String, String> values;
  private final String process;

  private EngineSettings(Map<String, String> values, String process) {
    this.values = Map.copyOf(values);
    this.process = process;
  }

  /** {@return no values: every engine uses its defaults} */
  public static EngineSettings none() {
    return NONE;
  }

  /**
   * {@return the given values; neither keys nor values may be null}
   *
   * @param values by key, such as {@code soft.latency}
   */
  public static EngineSettings of(Map<String, String> values) {
    return new EngineSettings(values, "");
  }

  /**
   * {@return the same for a process that the application names}
   *
   * @param name such as the id of an executor; not null
   */
  public EngineSettings inProcess(String name) {
    return new EngineSettings(values, name);
  }

  /** {@return the name of this process; empty when the application gives none} */
  public String process() {
    return process;
  }

  /**
   * {@return the value given for a setting, or its default}
   *
   * @param setting a setting of an engine
   */
  public String value(EngineSetting setting) {
    return values.getOrDefault(setting.key(), setting.defaultValue());
  }

  /**
   * Checks that each key of an engine names one of its settings. Keys of other engines are ignored.
   *
   * @param engine its name, with which its keys begin
   * @param known the settings that the engine has
   * @throws IllegalArgumentException naming the key and the settings that the engine has
   */
  public void requireKnown(String engine, List<EngineSetting> known) {
    List<String> allowed = known.stream().map(EngineSetting::key).toList();
    for (String key : values().keySet()) {
      if (key.startsWith(engine + ".") && !allowed.contains(key)) {
        throw new IllegalArgumentException(
            "no such setting: key=" + key + " allowed=" + String.join(",", allowed));
      }
    }
  }

  /** {@return all values given, sorted by key} */
  public Map<String, String> values() {
    return new TreeMap<>(values);
  }
}
