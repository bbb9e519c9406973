// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads from ScalaTest's printed output why tests were cancelled; its XML keeps that to itself. */
final class CancelReasons {
  private static final Pattern CANCELED = Pattern.compile("\\s*- (.*) !!! CANCELED !!!.*");

  private CancelReasons() {}

  /** By the name of the test. */
  static Map<String, String> read(Path output) throws IOException {
    Map<String, String> reasons = new HashMap<>();
    Iterator<String> lines = Files.readAllLines(output, StandardCharsets.ISO_8859_1).iterator();
    while (lines.hasNext()) {
      Matcher canceled = CANCELED.matcher(lines.next());
      if (canceled.matches() && lines.hasNext()) {
        reasons.put(canceled.group(1), lines.next().strip());
      }
    }
    return reasons;
  }
}
