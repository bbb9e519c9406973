// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.faults;

import java.math.BigDecimal;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses durations. */
public final class Units {
  private static final Pattern NUMBER = Pattern.compile("([0-9]{1,12}(?:\\.[0-9]{1,6})?)([a-z]*)");
  private static final Map<String, Long> NANOSECONDS =
      Map.of("ns", 1L, "us", 1_000L, "ms", 1_000_000L, "s", 1_000_000_000L);

  private Units() {}

  /** A duration such as {@code 200ms}, in nanoseconds. */
  public static long durationNs(String text) {
    Matcher matcher = NUMBER.matcher(text);
    Long unit = matcher.matches() ? NANOSECONDS.get(matcher.group(2)) : null;
    if (unit == null) {
      throw new IllegalArgumentException("not a duration with ns, us, ms or s: " + text);
    }
    return new BigDecimal(matcher.group(1)).multiply(BigDecimal.valueOf(unit)).longValue();
  }
}
