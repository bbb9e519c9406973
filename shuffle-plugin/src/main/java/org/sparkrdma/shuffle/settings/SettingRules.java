// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.util.Optional;

/** Rules between the values of two keys. Stateless. */
final class SettingRules {
  private SettingRules() {}

  /**
   * @throws IllegalArgumentException naming the keys, their values and what is allowed
   */
  static void check(SettingValues values) {
    require(
        values,
        values
                .duration(ShuffleSetting.LEASE_TIMEOUT)
                .compareTo(values.duration(ShuffleSetting.REQUEST_TIMEOUT))
            > 0,
        ShuffleSetting.LEASE_TIMEOUT,
        "more than",
        ShuffleSetting.REQUEST_TIMEOUT);
    require(
        values,
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
        values,
        pinned.isEmpty() || pool.isEmpty() || pool.get() <= pinned.get(),
        ShuffleSetting.POOL_MAX,
        "at most",
        ShuffleSetting.PINNED_MAX);
    Optional<Long> reads = values.bytesOrDerived(ShuffleSetting.READS_BYTES_MAX);
    require(
        values,
        reads.isEmpty() || reads.get() >= 2 * values.bytes(ShuffleSetting.CHUNK_SIZE),
        ShuffleSetting.READS_BYTES_MAX,
        "at least 2 x",
        ShuffleSetting.CHUNK_SIZE);
  }

  private static void require(
      SettingValues values,
      boolean right,
      ShuffleSetting setting,
      String relation,
      ShuffleSetting other) {
    if (!right) {
      throw new IllegalArgumentException(
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
