// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.sparkrdma.verbs.spi.EngineSetting;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.VerbsProvider;

/**
 * The engines that the ServiceLoader found, and their own keys, which are passed through to them:
 * {@code spark.shuffle.rdma.soft.latency} is the engine's {@code soft.latency}. Immutable.
 */
final class EngineKeys {
  private final List<VerbsProvider> providers;

  EngineKeys(List<VerbsProvider> providers) {
    this.providers = List.copyOf(providers);
  }

  /** Every key of the engines present, without the prefix. */
  Set<String> names() {
    Set<String> names = new TreeSet<>();
    for (VerbsProvider provider : providers) {
      provider.settings().stream().map(EngineSetting::key).forEach(names::add);
    }
    return names;
  }

  /** Whether an engine takes this key. */
  boolean takes(String name) {
    return names().contains(name);
  }

  /**
   * Checks the name of the engine that the user chose.
   *
   * @param name an engine's name, or {@code auto}
   * @throws IllegalArgumentException naming key, value and the engines on the class path
   */
  void requireEngine(String name) {
    List<String> allowed = new ArrayList<>(List.of(ValueType.DERIVED));
    providers.stream().map(VerbsProvider::name).forEach(allowed::add);
    if (!allowed.contains(name)) {
      throw new IllegalArgumentException(
          "bad setting: key="
              + ShuffleSetting.ENGINE.key()
              + " value="
              + name
              + " allowed="
              + String.join(", ", allowed));
    }
  }

  /**
   * Hands the values to the engines to be checked, one by one, so that the user's key can be named,
   * and then together.
   *
   * @throws IllegalArgumentException naming key, value and the reason
   */
  EngineSettings validated(Map<String, String> values) {
    values.forEach(this::validate);
    EngineSettings settings = EngineSettings.of(values);
    providers.forEach(provider -> provider.validate(settings));
    return settings;
  }

  private void validate(String name, String value) {
    EngineSettings alone = EngineSettings.of(Map.of(name, value));
    try {
      providers.forEach(provider -> provider.validate(alone));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "bad setting: key="
              + ShuffleSetting.PREFIX
              + name
              + " value="
              + value
              + " engine reports: "
              + e.getMessage(),
          e);
    }
  }
}
