// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Allowed values of a setting, as text and as a parser.
 *
 * @param allowed the allowed values as text, including units
 * @param parser gives the value, or throws IllegalArgumentException
 */
public record ValueType(String allowed, Function<String, Object> parser) {
  /** Leaves the value to be derived from the machine. */
  static final String DERIVED = "auto";

  private static final Pattern AMOUNT = Pattern.compile("(\\d{1,18})([a-z]*)");
  private static final Map<String, Long> NO_UNIT = Map.of("", 1L);
  private static final Map<String, Long> BYTES =
      Map.ofEntries(
          Map.entry("", 1L),
          Map.entry("b", 1L),
          Map.entry("k", 1L << 10),
          Map.entry("kb", 1L << 10),
          Map.entry("m", 1L << 20),
          Map.entry("mb", 1L << 20),
          Map.entry("g", 1L << 30),
          Map.entry("gb", 1L << 30),
          Map.entry("t", 1L << 40),
          Map.entry("tb", 1L << 40));
  private static final Map<String, Long> NANOSECONDS =
      Map.of(
          "us", 1_000L,
          "ms", 1_000_000L,
          "s", 1_000_000_000L,
          "m", 60_000_000_000L,
          "min", 60_000_000_000L,
          "h", 3_600_000_000_000L,
          "d", 86_400_000_000_000L);

  static ValueType flag() {
    ValueType words = choice("true", "false");
    return new ValueType(words.allowed, text -> Boolean.valueOf((String) words.parser.apply(text)));
  }

  static ValueType choice(String... values) {
    List<String> allowed = List.of(values);
    return new ValueType(
        String.join(", ", allowed),
        text -> {
          String word = text.trim().toLowerCase(Locale.ROOT);
          check(text, allowed.contains(word));
          return word;
        });
  }

  static ValueType text(String allowed) {
    return new ValueType(
        allowed,
        text -> {
          check(text, !text.isBlank());
          return isDerived(text) ? DERIVED : text.trim();
        });
  }

  static ValueType count(int least, int most) {
    return new ValueType(
        "a whole number from " + least + " to " + most,
        text -> (int) within(text, NO_UNIT, "" + least, "" + most));
  }

  static ValueType bytes(String least, String most) {
    return new ValueType(
        "bytes from " + least + " to " + most + " (units k, m, g, t)",
        text -> within(text, BYTES, least, most));
  }

  static ValueType duration(String least, String most) {
    return new ValueType(
        "a time from " + least + " to " + most + " (units us, ms, s, min, h, d)",
        text -> Duration.ofNanos(within(text, NANOSECONDS, least, most)));
  }

  /** The value as an Optional, empty for {@link #DERIVED}. */
  ValueType orDerived() {
    return new ValueType(
        DERIVED + ", or " + allowed,
        text -> isDerived(text) ? Optional.empty() : Optional.of(parser.apply(text)));
  }

  /** Whether a flag of Spark is true, as Spark's own typed entries read it; null where not set. */
  public static boolean isTrue(String value) {
    return value != null && Boolean.parseBoolean(value.trim());
  }

  private static boolean isDerived(String text) {
    return text.trim().equalsIgnoreCase(DERIVED);
  }

  private static void check(String text, boolean right) {
    if (!right) {
      throw new IllegalArgumentException("not allowed: value=" + text);
    }
  }

  private static long within(String text, Map<String, Long> units, String least, String most) {
    long value = amount(text, units);
    check(text, value >= amount(least, units) && value <= amount(most, units));
    return value;
  }

  /**
   * A size as Spark's own JavaUtils reads it.
   *
   * @param plainUnit bytes of a number without a unit
   * @throws IllegalArgumentException when the text is no size
   */
  public static long bytes(String text, long plainUnit) {
    return amount(text, text.matches("\\d+") ? Map.of("", plainUnit) : BYTES);
  }

  private static long amount(String text, Map<String, Long> units) {
    Matcher matcher = AMOUNT.matcher(text.trim().toLowerCase(Locale.ROOT));
    check(text, matcher.matches() && units.containsKey(matcher.group(2)));
    try {
      return Math.multiplyExact(Long.parseLong(matcher.group(1)), units.get(matcher.group(2)));
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException("too large: value=" + text, e);
    }
  }
}
