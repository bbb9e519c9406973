// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.faults;

import java.math.BigDecimal;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses durations and rates. */
public final class Units {
  private static final Pattern NUMBER = Pattern.compile("([0-9]{1,12}(?:\\.[0-9]{1,6})?)([a-z/]*)");
  private static final Map<String, Long> NANOSECONDS =
      Map.of("ns", 1L, "us", 1_000L, "ms", 1_000_000L, "s", 1_000_000_000L);
  private static final Map<String, Long> BYTES =
      Map.of("b/s", 1L, "kb/s", 1_000L, "mb/s", 1_000_000L, "gb/s", 1_000_000_000L);

  private Units() {}

  /** A duration such as {@code 200ms}, in nanoseconds. */
  public static long durationNs(String text) {
    return scaled(text, NANOSECONDS, "a duration with ns, us, ms or s");
  }

  /** A rate such as {@code 10gb/s}, in bytes per second. */
  public static long bytesPerSecond(String text) {
    return scaled(text, BYTES, "a rate with b/s, kb/s, mb/s or gb/s");
  }

  private static long scaled(String text, Map<String, Long> units, String what) {
    Matcher matcher = NUMBER.matcher(text);
    Long unit = matcher.matches() ? units.get(matcher.group(2)) : null;
    if (unit == null) {
      throw new IllegalArgumentException("not " + what + ": " + text);
    }
    return new BigDecimal(matcher.group(1)).multiply(BigDecimal.valueOf(unit)).longValue();
  }
}
