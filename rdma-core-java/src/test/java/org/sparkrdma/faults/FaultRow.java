// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.faults;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A fault and its measured result.
 *
 * @param name the fault, as text
 * @param recovery what happened then, as text
 * @param hits how often the fault happened
 * @param during comparison of each block or READ that was read under the fault
 * @param afterwards comparison of what was read after the fault
 * @param seconds from the beginning to the last answer, or to the end of what was read afterwards
 * @param boundSeconds what the test asserts of {@code seconds}
 * @param pauseMs time for which the process or one of its threads did not run, all together
 * @param reasons number of blocks by TCP for each fallback reason
 */
public record FaultRow(
    String name,
    String recovery,
    long hits,
    Comparison during,
    Comparison afterwards,
    double seconds,
    int boundSeconds,
    long pauseMs,
    Map<String, Long> reasons) {

  /** The name of a test method as words. */
  public static String words(String method) {
    return method.replaceAll("([A-Z])", " $1").toLowerCase(Locale.ROOT);
  }

  String json(String where, String engine) {
    long byTcp = reasons.values().stream().mapToLong(Long::longValue).sum();
    return List.of(
            field("name", quoted(name)),
            field("engine", quoted(engine)),
            field("where", quoted(where)),
            field("hits", Long.toString(hits)),
            field("answerRight", during.json()),
            field("compared", Long.toString(during.compared())),
            field("rightAfterwards", afterwards.json()),
            field("comparedAfterwards", Long.toString(afterwards.compared())),
            field("seconds", String.format(Locale.ROOT, "%.3f", seconds)),
            field("boundSeconds", Integer.toString(boundSeconds)),
            field("pauseMs", Long.toString(pauseMs)),
            field("blocksByRead", Long.toString(during.compared())),
            field("blocksByTcp", Long.toString(byTcp)),
            field("reasons", object(new TreeMap<>(reasons))),
            field("recovery", quoted(recovery)))
        .stream()
        .collect(Collectors.joining(",", "  {", "}"));
  }

  private static String object(Map<String, Long> values) {
    return values.entrySet().stream()
        .map(value -> field(value.getKey(), value.getValue().toString()))
        .collect(Collectors.joining(",", "{", "}"));
  }

  private static String field(String name, String value) {
    return quoted(name) + ":" + value;
  }

  private static String quoted(String text) {
    return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }
}
