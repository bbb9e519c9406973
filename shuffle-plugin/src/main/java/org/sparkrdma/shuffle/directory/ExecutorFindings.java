// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Findings of the doctor in one executor. On the RPC a list of JDK types, see {@link RecordCodec}:
 *
 * <pre>
 *   [executor id, host, Boolean: used, [level, check, message, advice], ...]
 * </pre>
 *
 * @param executorId Spark's id of the executor
 * @param host Spark's name of its host
 * @param used whether it uses RDMA
 * @param lines findings that are not in order, in the order of the checks; a longer list and longer
 *     texts are shortened on their way
 */
public record ExecutorFindings(
    String executorId, String host, boolean used, List<FindingLine> lines) {
  static final int MAX_LINES = 30;
  static final int MAX_TEXT_CHARS = 600;

  private static final Set<String> LEVELS = Set.of("problem", "warning", "note");
  private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");
  private static final int HEAD = 3;
  private static final int LINE_FIELDS = 4;

  /** Keeps a copy. */
  public ExecutorFindings {
    lines = List.copyOf(lines);
  }

  /**
   * A finding as text.
   *
   * @param level its weight: {@code problem}, {@code warning} or {@code note}
   * @param check name of the check
   * @param message what was found
   * @param advice what to do
   */
  public record FindingLine(String level, String check, String message, String advice) {}

  List<Object> encode() {
    List<Object> encoded = new ArrayList<>(List.of(executorId, host, used));
    for (FindingLine line : lines.subList(0, Math.min(MAX_LINES, lines.size()))) {
      encoded.add(
          new ArrayList<Object>(
              List.of(
                  shortened(line.level()),
                  shortened(line.check()),
                  shortened(line.message()),
                  shortened(line.advice()))));
    }
    return encoded;
  }

  private static String shortened(String text) {
    return text.substring(0, Math.min(MAX_TEXT_CHARS, text.length()));
  }

  /**
   * @throws IllegalArgumentException when it is no such list, or too long
   */
  static ExecutorFindings decode(Object encoded) {
    List<?> list = RecordCodec.as(List.class, encoded);
    if (list.size() < HEAD || list.size() > HEAD + MAX_LINES) {
      throw new IllegalArgumentException("bad findings: size=" + list.size());
    }
    return new ExecutorFindings(
        text(RecordCodec.name(list.get(0))),
        text(RecordCodec.name(list.get(1))),
        RecordCodec.as(Boolean.class, list.get(2)),
        list.subList(HEAD, list.size()).stream().map(ExecutorFindings::line).toList());
  }

  private static FindingLine line(Object encoded) {
    List<?> fields = RecordCodec.list(encoded, LINE_FIELDS);
    String level = text(fields.get(0));
    if (!LEVELS.contains(level)) {
      throw new IllegalArgumentException("bad findings: level");
    }
    return new FindingLine(level, text(fields.get(1)), text(fields.get(2)), text(fields.get(3)));
  }

  private static String text(Object value) {
    String text = RecordCodec.as(String.class, value);
    if (text.length() > MAX_TEXT_CHARS) {
      throw new IllegalArgumentException("bad findings: textChars=" + text.length());
    }
    // Nothing from an executor may begin a line of the driver's log.
    return CONTROL.matcher(text).replaceAll(" ");
  }
}
