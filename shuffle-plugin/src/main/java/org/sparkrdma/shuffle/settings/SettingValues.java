// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The value of every {@link ShuffleSetting}, set or default. The caller knows the type of each; a
 * value {@value ValueType#DERIVED} is empty where that is allowed. Immutable.
 */
final class SettingValues {
  private final Map<ShuffleSetting, Object> values = new EnumMap<>(ShuffleSetting.class);

  private SettingValues() {}

  /**
   * Parses the values and removes their keys from the texts. A wrong value is a mistake, naming
   * key, value and what is allowed; the default takes its place.
   */
  static SettingValues takeFrom(Map<String, String> texts, List<String> mistakes) {
    SettingValues taken = new SettingValues();
    for (ShuffleSetting setting : ShuffleSetting.values()) {
      String text = texts.remove(setting.key());
      taken.values.put(setting, setting.parse(setting.defaultText()));
      if (text != null) {
        try {
          taken.values.put(setting, setting.parse(text));
        } catch (IllegalArgumentException e) {
          mistakes.add(e.getMessage());
        }
      }
    }
    return taken;
  }

  String text(ShuffleSetting setting) {
    return (String) values.get(setting);
  }

  Optional<String> textOrDerived(ShuffleSetting setting) {
    String text = text(setting);
    return text.equals(ValueType.DERIVED) ? Optional.empty() : Optional.of(text);
  }

  int number(ShuffleSetting setting) {
    return (Integer) values.get(setting);
  }

  boolean flag(ShuffleSetting setting) {
    return (Boolean) values.get(setting);
  }

  Duration duration(ShuffleSetting setting) {
    return (Duration) values.get(setting);
  }

  OptionalInt numberOrDerived(ShuffleSetting setting) {
    Optional<?> value = (Optional<?>) values.get(setting);
    return value.isPresent() ? OptionalInt.of((Integer) value.get()) : OptionalInt.empty();
  }

  Optional<Long> bytesOrDerived(ShuffleSetting setting) {
    Optional<?> value = (Optional<?>) values.get(setting);
    return value.isPresent() ? Optional.of((Long) value.get()) : Optional.empty();
  }
}
