// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.time.Duration;
import java.util.EnumMap;
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
   * Parses the values and removes their keys from the texts.
   *
   * @throws IllegalArgumentException naming key, value and what is allowed
   */
  static SettingValues takeFrom(Map<String, String> texts) {
    SettingValues taken = new SettingValues();
    for (ShuffleSetting setting : ShuffleSetting.values()) {
      String text = texts.remove(setting.key());
      taken.values.put(setting, setting.parse(text == null ? setting.defaultText() : text));
    }
    return taken;
  }

  String text(ShuffleSetting setting) {
    return (String) values.get(setting);
  }

  Optional<String> textOrDerived(ShuffleSetting setting) {
    return Optional.of(text(setting)).filter(text -> !text.equals(ValueType.DERIVED));
  }

  int number(ShuffleSetting setting) {
    return (Integer) values.get(setting);
  }

  long bytes(ShuffleSetting setting) {
    return (Long) values.get(setting);
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

  Optional<Duration> durationOrDerived(ShuffleSetting setting) {
    return ((Optional<?>) values.get(setting)).map(Duration.class::cast);
  }

  Optional<Long> bytesOrDerived(ShuffleSetting setting) {
    return ((Optional<?>) values.get(setting)).map(Long.class::cast);
  }

  /** A duration or a number of bytes for a message. */
  String inWords(ShuffleSetting setting) {
    Object value = values.get(setting);
    if (value instanceof Duration time) {
      return time.toMillis() + "ms";
    }
    return value instanceof Long bytes
        ? ValueType.inBytes(bytes)
        : bytesOrDerived(setting).map(ValueType::inBytes).orElse(ValueType.DERIVED);
  }
}
