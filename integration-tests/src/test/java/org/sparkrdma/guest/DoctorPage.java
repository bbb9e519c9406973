// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The outputs that docs/doctor.md shows, to compare with those of a run: line by line, without
 * figures, versions and addresses. Immutable.
 */
final class DoctorPage {
  private static final Path PAGE = Path.of("..", "docs", "doctor.md");
  private static final String FENCE = "```";

  /** Stands for the rest of a line. */
  private static final String REST = "...";

  /** Addresses of IPv6 and GIDs, and words that begin with a digit, such as 10.99.1.1/24 and 1X. */
  private static final Pattern FIGURE =
      Pattern.compile("\\b(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){3,}|\\d)[\\w.:/]*");

  /** The list of parts for cards is that of the host's libibverbs. */
  private static final Pattern PARTS = Pattern.compile("(libibverbs has parts for:).*");

  private DoctorPage() {}

  /**
   * The lines of the first block after a line of the page, without figures.
   *
   * @param text in that line
   */
  static List<String> blockAfter(String text) {
    List<String> lines = lines();
    int at = 0;
    while (at < lines.size() && !lines.get(at).contains(text)) {
      at++;
    }
    int begin = at + lines.subList(at, lines.size()).indexOf(FENCE);
    if (at == lines.size() || begin < at) {
      throw new AssertionError(PAGE + " has no block after a line with: " + text);
    }
    int length = lines.subList(begin + 1, lines.size()).indexOf(FENCE);
    return withoutFigures(lines.subList(begin + 1, begin + 1 + length));
  }

  /** Lines of an output as the page is compared with them. */
  static List<String> withoutFigures(List<String> lines) {
    return lines.stream()
        .map(line -> PARTS.matcher(line).replaceAll("$1"))
        .map(line -> FIGURE.matcher(line).replaceAll("#"))
        .toList();
  }

  /** The lines that the page shows and the output does not have in this order. */
  static List<String> missing(List<String> shown, List<String> output) {
    List<String> missing = new ArrayList<>();
    int next = 0;
    for (String line : shown) {
      int found = next;
      while (found < output.size() && !matches(line, output.get(found))) {
        found++;
      }
      if (found == output.size()) {
        missing.add(line);
      } else {
        next = found + 1;
      }
    }
    return missing;
  }

  /** The lines of the output that the page does not show. */
  static List<String> unshown(List<String> shown, List<String> output) {
    return output.stream()
        .filter(line -> shown.stream().noneMatch(one -> matches(one, line)))
        .toList();
  }

  private static boolean matches(String shown, String line) {
    return shown.endsWith(REST)
        ? line.startsWith(shown.substring(0, shown.length() - REST.length()))
        : line.equals(shown);
  }

  private static List<String> lines() {
    try {
      return Files.readAllLines(PAGE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
