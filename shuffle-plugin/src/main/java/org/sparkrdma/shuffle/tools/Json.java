// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Writes maps, lists, texts, numbers and flags as JSON. Stateless. */
final class Json {
  private static final String INDENT = "  ";

  private Json() {}

  static String of(Object value) {
    return write(value, "");
  }

  /** Same as {@link #of}, in one line. */
  static String line(Object value) {
    // Texts have no line feeds: they are escaped.
    return of(value).replaceAll(",\\n *", ", ").replaceAll("\\n *", "");
  }

  private static String write(Object value, String indent) {
    if (value == null || value instanceof Number || value instanceof Boolean) {
      return String.valueOf(value);
    }
    if (value instanceof Map<?, ?> map) {
      List<String> members =
          map.entrySet().stream()
              .map(e -> text(e.getKey()) + ": " + write(e.getValue(), indent + INDENT))
              .toList();
      return enclosed("{", members, "}", indent);
    }
    if (value instanceof Collection<?> list) {
      List<String> items = list.stream().map(item -> write(item, indent + INDENT)).toList();
      return enclosed("[", items, "]", indent);
    }
    return text(value);
  }

  private static String enclosed(String begin, List<String> parts, String end, String indent) {
    if (parts.isEmpty()) {
      return begin + end;
    }
    String line = "\n" + indent;
    return begin + line + INDENT + String.join("," + line + INDENT, parts) + line + end;
  }

  private static String text(Object value) {
    StringBuilder text = new StringBuilder("\"");
    for (char letter : String.valueOf(value).toCharArray()) {
      if (letter == '"' || letter == '\\') {
        text.append('\\').append(letter);
      } else if (letter < ' ' || letter > '~') {
        text.append(String.format(Locale.ROOT, "\\u%04x", (int) letter));
      } else {
        text.append(letter);
      }
    }
    return text.append('"').toString();
  }
}
