// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.sparkrdma.shuffle.metrics.Figure;

/**
 * The report of an executor to the driver for the tab and the log, as a list of JDK types, see
 * {@link RecordCodec}:
 *
 * <pre>
 *   [executor id, name, value, name, value, ...]     a value is a Long or a String
 *                                                    that of "stages" is a list of Long
 *                                                    that of "findings" is a list of String
 * </pre>
 *
 * @param executorId Spark's id of the executor
 * @param values by name; long texts are shortened on their way
 */
record ExecutorReport(String executorId, Map<String, Object> values) {
  static final int MAX_TEXT_CHARS = 1_200;
  static final int MAX_VALUES = 64;
  static final int MAX_NUMBERS = 1_000;
  static final int MAX_FINDINGS = 30;

  private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

  List<Object> encode() {
    List<Object> encoded = new ArrayList<>();
    encoded.add(executorId);
    for (Map.Entry<String, Object> value : values.entrySet()) {
      encoded.add(value.getKey());
      encoded.add(encoded(value.getKey(), value.getValue()));
    }
    return encoded;
  }

  private static Object encoded(String name, Object content) {
    if (content instanceof List<?> list) {
      int most = name.equals(Figure.FINDINGS) ? MAX_FINDINGS : MAX_NUMBERS;
      List<Object> copy = new ArrayList<>();
      for (Object value : list.subList(0, Math.min(most, list.size()))) {
        copy.add(shortened(value));
      }
      return copy;
    }
    return shortened(content);
  }

  private static Object shortened(Object value) {
    return value instanceof String text && text.length() > MAX_TEXT_CHARS
        ? text.substring(0, MAX_TEXT_CHARS)
        : value;
  }

  /**
   * Leaves out kinds of values that this version does not know: a newer executor may send them.
   *
   * @throws IllegalArgumentException when it is no such list, or too long
   */
  static ExecutorReport decode(Object encoded) {
    List<?> list = RecordCodec.as(List.class, encoded);
    if (list.size() % 2 != 1 || list.size() > 2 * MAX_VALUES + 1) {
      throw new IllegalArgumentException("bad report: namesAndValues=" + list.size());
    }
    Map<String, Object> values = new LinkedHashMap<>();
    for (int i = 1; i < list.size(); i += 2) {
      String name = RecordCodec.name(list.get(i));
      Object value = list.get(i + 1);
      if (value instanceof Long) {
        values.put(name, value);
      } else if (isShortText(value)) {
        values.put(name, onOneLine(value));
      } else if (name.equals(Figure.STAGES) && isList(value, MAX_NUMBERS, Long.class::isInstance)) {
        values.put(name, List.copyOf((List<?>) value));
      } else if (name.equals(Figure.FINDINGS)
          && isList(value, MAX_FINDINGS, ExecutorReport::isShortText)) {
        values.put(name, ((List<?>) value).stream().map(ExecutorReport::onOneLine).toList());
      }
    }
    return new ExecutorReport(onOneLine(RecordCodec.name(list.get(0))), values);
  }

  private static boolean isShortText(Object value) {
    return value instanceof String text && text.length() <= MAX_TEXT_CHARS;
  }

  private static boolean isList(Object value, int most, Predicate<Object> isElement) {
    return value instanceof List<?> list
        && list.size() <= most
        && list.stream().allMatch(isElement);
  }

  /** Nothing from an executor may begin a line of the driver's log. */
  private static String onOneLine(Object text) {
    return CONTROL.matcher((String) text).replaceAll(" ");
  }
}
