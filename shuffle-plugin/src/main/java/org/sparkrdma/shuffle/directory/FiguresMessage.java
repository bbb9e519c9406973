// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.sparkrdma.shuffle.metrics.Figure;

/**
 * Figures of an executor as a list of JDK types, see {@link RecordCodec}:
 *
 * <pre>
 *   [executor id, name, value, name, value, ...]     a value is a Long or a String
 *                                                    that of "stages" is a list of Long
 * </pre>
 *
 * @param executorId Spark's id of the executor
 * @param figures by name
 */
record FiguresMessage(String executorId, Map<String, Object> figures) {
  static final int MAX_TEXT_CHARS = 500;
  static final int MAX_FIGURES = 64;
  static final int MAX_NUMBERS = 1_000;

  List<Object> encode() {
    List<Object> encoded = new ArrayList<>();
    encoded.add(executorId);
    figures.forEach(
        (name, value) -> {
          encoded.add(name);
          encoded.add(encoded(value));
        });
    return encoded;
  }

  private static Object encoded(Object value) {
    if (value instanceof List<?> numbers) {
      return new ArrayList<>(numbers);
    }
    return value instanceof String text ? shortened(text) : value;
  }

  private static String shortened(String text) {
    return text.substring(0, Math.min(MAX_TEXT_CHARS, text.length()));
  }

  /**
   * @throws IllegalArgumentException when it is no such list, or too long
   */
  static FiguresMessage decode(Object encoded) {
    List<?> list = RecordCodec.as(List.class, encoded);
    if (list.size() % 2 != 1 || list.size() > 2 * MAX_FIGURES + 1) {
      throw new IllegalArgumentException("bad figures: namesAndValues=" + list.size());
    }
    Map<String, Object> figures = new LinkedHashMap<>();
    for (int i = 1; i < list.size(); i += 2) {
      String name = RecordCodec.name(list.get(i));
      Object value = list.get(i + 1);
      // A newer executor may send kinds of figures that this version does not know.
      if (isKnown(name, value)) {
        figures.put(name, value instanceof List<?> numbers ? List.copyOf(numbers) : value);
      }
    }
    return new FiguresMessage(RecordCodec.name(list.get(0)), figures);
  }

  /** A Long or a short String; under the name of the stages a short list of Long. */
  private static boolean isKnown(String name, Object value) {
    if (name.equals(Figure.STAGES)) {
      return value instanceof List<?> numbers
          && numbers.size() <= MAX_NUMBERS
          && !numbers.isEmpty()
          && numbers.stream().allMatch(Long.class::isInstance);
    }
    return value instanceof Long || (value instanceof String text && isShort(text));
  }

  private static boolean isShort(String text) {
    return text.length() <= MAX_TEXT_CHARS;
  }
}
