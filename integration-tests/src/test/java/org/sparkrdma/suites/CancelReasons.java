/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
