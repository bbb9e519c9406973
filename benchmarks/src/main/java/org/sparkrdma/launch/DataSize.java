// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An amount of data as users write it: {@code 64k}, {@code 256m}, {@code 1g}; units are powers of
 * 1024.
 */
public record DataSize(long bytes) {
  private static final Pattern FORM = Pattern.compile("([0-9]{1,9})([kmgt])b?");
  private static final String UNITS = "kmgt";
  private static final long KIB = 1L << 10;

  /**
   * @throws MisuseException in one sentence, if the text is no size of at least 1k
   */
  public static DataSize parse(String text) {
    Matcher matcher = FORM.matcher(text.toLowerCase(Locale.ROOT));
    if (!matcher.matches() || Long.parseLong(matcher.group(1)) == 0) {
      throw new MisuseException(
          "'%s' is not a size: give a whole number of k, m, g or t, at least 1, such as 256m"
              .formatted(text));
    }
    long unit = KIB << (10 * UNITS.indexOf(matcher.group(2)));
    return new DataSize(Math.multiplyExact(Long.parseLong(matcher.group(1)), unit));
  }

  /** The text for {@link #parse}: a whole number of the largest possible unit. */
  public String toOption() {
    long amount = bytes / KIB;
    int unit = 0;
    while (amount % KIB == 0 && unit < UNITS.length() - 1) {
      amount /= KIB;
      unit++;
    }
    return amount + UNITS.substring(unit, unit + 1);
  }

  /** A number of at least one in the largest possible unit, with one decimal if needed. */
  @Override
  public String toString() {
    String[] units = {"B", "KiB", "MiB", "GiB", "TiB"};
    double amount = bytes;
    int unit = 0;
    while (amount >= 1024 && unit < units.length - 1) {
      amount /= 1024;
      unit++;
    }
    String number = String.format(Locale.ROOT, unit == 0 ? "%.0f" : "%.1f", amount);
    return (number.endsWith(".0") ? number.substring(0, number.length() - 2) : number)
        + " "
        + units[unit];
  }
}
