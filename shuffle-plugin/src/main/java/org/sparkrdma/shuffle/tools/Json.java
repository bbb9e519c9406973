// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.lang.reflect.RecordComponent;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Writes records, maps, lists, texts, numbers and flags as JSON. Stateless. */
final class Json {
  private static final String INDENT = "  ";

  private Json() {}

  static String of(Object value) {
    return write(value, "");
  }

  private static String write(Object value, String indent) {
    if (value == null || value instanceof Number || value instanceof Boolean) {
      return String.valueOf(value);
    }
    if (value instanceof Optional<?> optional) {
      return write(optional.orElse(null), indent);
    }
    if (value instanceof Record record) {
      return write(components(record), indent);
    }
    if (value instanceof Map<?, ?> map) {
      List<String> members = new ArrayList<>();
      map.forEach((key, of) -> members.add(text(key) + ": " + write(of, indent + INDENT)));
      return enclosed("{", members, "}", indent);
    }
    if (value instanceof Collection<?> list) {
      List<String> items = list.stream().map(item -> write(item, indent + INDENT)).toList();
      return enclosed("[", items, "]", indent);
    }
    return text(value);
  }

  private static Map<String, Object> components(Record record) {
    Map<String, Object> values = new LinkedHashMap<>();
    for (RecordComponent component : record.getClass().getRecordComponents()) {
      try {
        values.put(component.getName(), component.getAccessor().invoke(record));
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(component + " cannot be read", e);
      }
    }
    return values;
  }

  private static String enclosed(String begin, List<String> parts, String end, String indent) {
    if (parts.isEmpty()) {
      return begin + end;
    }
    String line = "\n" + indent;
    return begin + line + INDENT + String.join("," + line + INDENT, parts) + line + end;
  }

  private static String text(Object value) {
    String plain = String.valueOf(value);
    if (value instanceof InetAddress address) {
      plain = address.getHostAddress();
    } else if (value instanceof Enum<?>) {
      plain = plain.toLowerCase(Locale.ROOT).replace('_', '-');
    }
    StringBuilder text = new StringBuilder("\"");
    for (int i = 0; i < plain.length(); i++) {
      char letter = plain.charAt(i);
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
