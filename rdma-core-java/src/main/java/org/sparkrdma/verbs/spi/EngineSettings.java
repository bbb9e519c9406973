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
package org.sparkrdma.verbs.spi;

import java.util.Map;
import java.util.TreeMap;

/**
 * The values that the user set for settings of engines, by key. Immutable.
 *
 * <p>Keys begin with the name of the engine ({@code soft.latency}), so that one object serves all
 * engines.
 */
public final class EngineSettings {
  private static final EngineSettings NONE = new EngineSettings(Map.of());

  private final Map<String, String> values;

  private EngineSettings(Map<String, String> values) {
    this.values = Map.copyOf(values);
  }

  /** No values: every engine uses its defaults. */
  public static EngineSettings none() {
    return NONE;
  }

  /** The given values; neither keys nor values may be null. */
  public static EngineSettings of(Map<String, String> values) {
    return new EngineSettings(values);
  }

  /** The value given for a setting, or its default. */
  public String value(EngineSetting setting) {
    return values.getOrDefault(setting.key(), setting.defaultValue());
  }

  /** All values given, sorted by key. */
  public Map<String, String> values() {
    return new TreeMap<>(values);
  }
}
