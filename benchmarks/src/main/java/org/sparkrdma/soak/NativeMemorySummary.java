// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parser of the text that {@code jcmd PID VM.native_memory summary scale=KB} prints. */
final class NativeMemorySummary {
  /** First line of a category, such as "- Code (reserved=9KB, committed=8KB)". */
  private static final Pattern CATEGORY =
      Pattern.compile("(?m)^-\\s+(\\S.*?) \\(reserved=\\d+KB, committed=(\\d+)KB.*$");

  private static final String HEAP = "Java Heap";
  private static final double KIB_PER_MIB = 1024;

  private NativeMemorySummary() {}

  /**
   * Returns the committed memory of each category except the heap, in MiB and in the order of the
   * text.
   *
   * @throws IOException when the text has no category; its message is the first line with a reason
   */
  static Map<String, Double> committedMib(String text) throws IOException {
    Map<String, Double> committed = new LinkedHashMap<>();
    Matcher matcher = CATEGORY.matcher(text);
    while (matcher.find()) {
      committed.put(matcher.group(1), Long.parseLong(matcher.group(2)) / KIB_PER_MIB);
    }
    if (committed.isEmpty()) {
      throw new IOException(reason(text));
    }
    committed.remove(HEAP);
    return committed;
  }

  /** The first line other than that with the number of the process, which ends with a colon. */
  static String reason(String text) {
    return text.lines()
        .map(String::strip)
        .filter(line -> !line.isEmpty() && !line.endsWith(":"))
        .findFirst()
        .orElse("jcmd printed nothing");
  }
}
