// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
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
record ValueType(String allowed, Function<String, Object> parser) {
  /** Leaves the value to be derived from the machine. */
  static final String DERIVED = "auto";

  private static final Pattern AMOUNT = Pattern.compile("(\\d{1,18})([a-z]*)");

  static ValueType flag() {
    return choice("true", "false").map(Boolean::valueOf);
  }

  static ValueType choice(String... values) {
    List<String> allowed = List.of(values);
    return new ValueType(
        String.join(", ", allowed), text -> check(text, allowed.contains(text.trim())).trim());
  }

  static ValueType text(String allowed) {
    return new ValueType(allowed, String::trim);
  }

  /** Wrong literal addresses and networks are refused; names are not looked up. */
  static ValueType address(String allowed) {
    return new ValueType(allowed, text -> check(text, AddressText.isAllowed(text.trim())).trim());
  }

  static ValueType count(int least, int most) {
    return new ValueType(
        "a whole number from " + least + " to " + most,
        text -> (int) within(text, amount(text, Unit.NONE), least, most));
  }

  static ValueType bytes(long least, long most) {
    return new ValueType(
        "bytes from " + inBytes(least) + " to " + inBytes(most) + " (units k, m, g, t)",
        text -> within(text, amount(text, Unit.BYTES), least, most));
  }

  static ValueType powerOfTwoBytes(long least, long most) {
    ValueType bytes = bytes(least, most);
    return new ValueType(
        "a power of two, " + bytes.allowed,
        text -> {
          long value = (Long) bytes.parser.apply(text);
          check(text, Long.bitCount(value) == 1);
          return value;
        });
  }

  static ValueType duration(Duration least, Duration most) {
    return new ValueType(
        "a time from " + inTime(least) + " to " + inTime(most) + " (units us, ms, s, min, h, d)",
        text ->
            Duration.ofNanos(
                within(text, amount(text, Unit.TIME), least.toNanos(), most.toNanos())));
  }

  /** The value as an Optional, empty for {@link #DERIVED}. */
  ValueType orDerived() {
    return new ValueType(
        DERIVED + ", or " + allowed,
        text -> text.trim().equals(DERIVED) ? Optional.empty() : Optional.of(parser.apply(text)));
  }

  private ValueType map(Function<String, Object> after) {
    return new ValueType(allowed, text -> after.apply((String) parser.apply(text)));
  }

  private static String check(String text, boolean right) {
    if (!right) {
      throw new IllegalArgumentException("not allowed: value=" + text);
    }
    return text;
  }

  private static long within(String text, long value, long least, long most) {
    check(text, value >= least && value <= most);
    return value;
  }

  private static long amount(String text, Unit unit) {
    Matcher matcher = AMOUNT.matcher(text.trim().toLowerCase(Locale.ROOT));
    check(text, matcher.matches());
    try {
      return Math.multiplyExact(Long.parseLong(matcher.group(1)), unit.factor(matcher.group(2)));
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException("too large: value=" + text, e);
    }
  }

  /** A number of bytes as a user would write it. */
  static String inBytes(long bytes) {
    String[] units = {"", "k", "m", "g", "t"};
    int unit = 0;
    long rest = bytes;
    while (unit < units.length - 1 && rest >= 1024 && rest % 1024 == 0) {
      rest /= 1024;
      unit++;
    }
    return rest + units[unit];
  }

  private static String inTime(Duration time) {
    if (time.toNanos() % 1_000_000 != 0) {
      return time.toNanos() / 1_000 + "us";
    }
    if (time.toMillis() % 1_000 != 0) {
      return time.toMillis() + "ms";
    }
    return time.toSeconds() % 3_600 == 0 && time.toSeconds() > 0
        ? time.toHours() + "h"
        : time.toSeconds() + "s";
  }

  private enum Unit {
    NONE {
      @Override
      long factor(String unit) {
        check(unit, unit.isEmpty());
        return 1;
      }
    },
    BYTES {
      @Override
      long factor(String unit) {
        return switch (unit) {
          case "", "b" -> 1L;
          case "k", "kb" -> 1L << 10;
          case "m", "mb" -> 1L << 20;
          case "g", "gb" -> 1L << 30;
          case "t", "tb" -> 1L << 40;
          default -> throw new IllegalArgumentException("no such unit: unit=" + unit);
        };
      }
    },
    TIME {
      @Override
      long factor(String unit) {
        return switch (unit) {
          case "us" -> 1_000L;
          case "ms" -> 1_000_000L;
          case "s" -> 1_000_000_000L;
          case "m", "min" -> 60_000_000_000L;
          case "h" -> 3_600_000_000_000L;
          case "d" -> 86_400_000_000_000L;
          default -> throw new IllegalArgumentException("no such unit: unit=" + unit);
        };
      }
    };

    abstract long factor(String unit);
  }
}
