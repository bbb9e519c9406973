// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Rules between the values of two keys. For one thread. */
final class SettingRules {
  private static final Duration LEASE_MARGIN = Duration.ofSeconds(2);

  private final SettingValues values;
  private final Predicate<ShuffleSetting> compared;
  private final List<String> contradictions = new ArrayList<>();

  private SettingRules(SettingValues values, Predicate<ShuffleSetting> compared) {
    this.values = values;
    this.compared = compared;
  }

  /**
   * @throws IllegalArgumentException naming the keys, their values and what is allowed, for each
   *     rule that they break
   */
  static void check(SettingValues values) {
    List<String> contradictions = contradictions(values, setting -> true);
    if (!contradictions.isEmpty()) {
      throw new IllegalArgumentException(String.join("; ", contradictions));
    }
  }

  /**
   * A sentence for each rule that is broken.
   *
   * @param compared whether the value of a setting may be compared with others
   */
  static List<String> contradictions(SettingValues values, Predicate<ShuffleSetting> compared) {
    SettingRules rules = new SettingRules(values, compared);
    rules.compare();
    return List.copyOf(rules.contradictions);
  }

  private void compare() {
    require(
        values
                .duration(ShuffleSetting.LEASE_TIMEOUT)
                .compareTo(values.duration(ShuffleSetting.REQUEST_TIMEOUT))
            > 0,
        ShuffleSetting.LEASE_TIMEOUT,
        "more than",
        ShuffleSetting.REQUEST_TIMEOUT);
    // Readers refuse a lease that does not last 1 s longer, and the answer takes time as well.
    Duration lease = values.duration(ShuffleSetting.LEASE_TIMEOUT);
    Duration request = values.duration(ShuffleSetting.REQUEST_TIMEOUT);
    require(
        lease.compareTo(request) <= 0 || lease.compareTo(request.plus(LEASE_MARGIN)) >= 0,
        ShuffleSetting.LEASE_TIMEOUT,
        "at least 2 s more than",
        ShuffleSetting.REQUEST_TIMEOUT);
    require(
        values
                .duration(ShuffleSetting.QUARANTINE_MAX)
                .compareTo(values.duration(ShuffleSetting.QUARANTINE_MIN))
            >= 0,
        ShuffleSetting.QUARANTINE_MAX,
        "at least",
        ShuffleSetting.QUARANTINE_MIN);
    Optional<Long> pinned = values.bytesOrDerived(ShuffleSetting.PINNED_MAX);
    Optional<Long> pool = values.bytesOrDerived(ShuffleSetting.POOL_MAX);
    require(
        pinned.isEmpty() || pool.isEmpty() || pool.get() <= pinned.get(),
        ShuffleSetting.POOL_MAX,
        "at most",
        ShuffleSetting.PINNED_MAX);
    long chunk = values.bytes(ShuffleSetting.CHUNK_SIZE);
    require(
        pool.isEmpty() || pool.get() >= 2 * chunk,
        ShuffleSetting.POOL_MAX,
        "at least 2 x",
        ShuffleSetting.CHUNK_SIZE);
    require(
        pinned.isEmpty() || pinned.get() >= 4 * chunk,
        ShuffleSetting.PINNED_MAX,
        "at least 4 x",
        ShuffleSetting.CHUNK_SIZE);
    if (pinned.isPresent()
        && pinned.get() < 4 * ShuffleSettings.COPY_SLOT_BYTES
        && values.text(ShuffleSetting.SERVE).equals("copy")
        && compared.test(ShuffleSetting.PINNED_MAX)
        && compared.test(ShuffleSetting.SERVE)) {
      contradictions.add(
          "bad setting: key="
              + ShuffleSetting.PINNED_MAX.key()
              + " value="
              + values.inWords(ShuffleSetting.PINNED_MAX)
              + " allowed=at least 4m with "
              + ShuffleSetting.SERVE.key()
              + "=copy");
    }
    Optional<Long> reads = values.bytesOrDerived(ShuffleSetting.READS_BYTES_MAX);
    require(
        reads.isEmpty() || reads.get() >= 2 * chunk,
        ShuffleSetting.READS_BYTES_MAX,
        "at least 2 x",
        ShuffleSetting.CHUNK_SIZE);
  }

  private void require(
      boolean right, ShuffleSetting setting, String relation, ShuffleSetting other) {
    if (!right && compared.test(setting) && compared.test(other)) {
      contradictions.add(
          "bad setting: key="
              + setting.key()
              + " value="
              + values.inWords(setting)
              + " allowed="
              + relation
              + " "
              + other.key()
              + "="
              + values.inWords(other));
    }
  }
}
