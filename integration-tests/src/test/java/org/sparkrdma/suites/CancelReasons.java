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

/** Reads the reasons of cancelled tests from ScalaTest's output; its XML report lacks them. */
final class CancelReasons {
  private static final Pattern CANCELED = Pattern.compile("\\s*- (.*) !!! CANCELED !!!.*");

  private CancelReasons() {}

  /** Reasons by the name of the test. */
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
