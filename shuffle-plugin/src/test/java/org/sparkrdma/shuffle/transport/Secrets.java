// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Secret values, in every form in which text may contain them. */
final class Secrets {
  /** Shorter numbers appear in texts by chance. */
  private static final int LEAST_CHARS = 7;

  private final Set<String> forms = new LinkedHashSet<>();

  void add(byte[] bytes) {
    String hex = HexFormat.of().formatHex(bytes);
    add(hex);
    add(HexFormat.ofDelimiter(":").formatHex(bytes));
    add(HexFormat.ofDelimiter(" ").formatHex(bytes));
    add(Base64.getEncoder().withoutPadding().encodeToString(bytes));
    add(Arrays.toString(bytes));
    add(new String(bytes, StandardCharsets.ISO_8859_1));
  }

  void add(long number) {
    add(Long.toString(number));
    add(Long.toUnsignedString(number));
    add(Long.toHexString(number));
  }

  void add(int number) {
    add(Integer.toString(number));
    add(Integer.toUnsignedString(number));
    add(Integer.toHexString(number));
  }

  private void add(String form) {
    if (form.length() >= LEAST_CHARS) {
      forms.add(form.toLowerCase(Locale.ROOT));
    }
  }

  int count() {
    return forms.size();
  }

  /** The secrets that a text contains. */
  List<String> foundIn(String text) {
    String lower = text.toLowerCase(Locale.ROOT);
    return forms.stream().filter(lower::contains).toList();
  }
}
